"""Checks the results of scans other than tables: counts, hits, statistics, files, progress, interrupts and parts."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import zlib

import chess
import chess.pgn
import pytest

import orbit_chess
from conftest import ODD, PATIENCE, SAMPLE


def test_counts_are_those_of_the_program(orbit, db):
    themes = db.batch()
    command = [orbit, "batch", "-q", "-F", "json", "catalogue", SAMPLE]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["themes"]
    assert themes == {theme["theme"]: (theme["games_hit"], theme["positions_hit"]) for theme in told}
    assert sum(count.games > 0 for count in themes.values()) > 20


def test_a_theme_is_a_query(db):
    query = orbit_chess.Query.theme("greek-gift")
    assert query.text == orbit_chess.themes()["greek-gift"]["query"]
    assert db.count(query) == db.batch()["greek-gift"]
    with pytest.raises(orbit_chess.QueryError, match="greek-gift"):
        orbit_chess.Query.theme("grek-gift")


@pytest.mark.parametrize(
    ("keywords", "arguments"),
    [
        ({}, ["catalogue"]),
        (
            {"group": ["mates"], "only": ["fianchetto"], "by": "year,white,result", "where": "elo>=2500"},
            ["catalogue", "--group=mates", "--only=fianchetto", "--by=year,white,result", "--where=elo>=2500"],
        ),
        ({"by": "opponent", "player": "Carlsen"}, ["catalogue", "--by=opponent", "--player=Carlsen"]),
    ],
    ids=str,
)
def test_the_matrix_is_that_of_the_program(orbit, db, keywords, arguments):
    command = [orbit, "batch", "-q", "-F", "json", *arguments, SAMPLE]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert db.matrix(**keywords) == told


def test_a_matrix_of_queries(db):
    matrix = db.matrix({"mates": " mate ", "checks": orbit_chess.Query("check")}, by="result")
    mates = matrix["themes"][0]
    assert (mates["theme"], mates["title"], mates["group"], mates["query"]) == ("mates", "mates", "", "mate")
    rows = db.stats("mate", "result").groupings["result"]
    told = [(row["key"], row["games_hit"], row["games"]) for row in mates["groupings"]["result"]]
    assert told == [(row["key"], row["games_hit"], row["games"]) for row in rows]
    assert db.matrix({}) == {"games": 0, "positions": 0, "themes": []}
    for wrong, words in [
        (lambda: db.matrix(only=["wind-mill"]), "did you mean `windmill`"),
        (lambda: db.matrix(group=["xyz"]), "there is no group of themes `xyz`"),
        (lambda: db.matrix({"mates": "mate"}, only=["mates"]), "leave them out"),
        (lambda: db.matrix({"mates": "mate"}, by="value"), "`value` is no grouping for themes"),
        (lambda: db.matrix({"mates": "mate"}, by="opponent"), "add `player=NAME`"),
        (lambda: db.matrix({"mates": "mate"}, by="yeer"), "did you mean `year`"),
        (lambda: db.matrix({"mates": "mate"}, limit=3), "are of all games"),
    ]:
        with pytest.raises(orbit_chess.OptionError, match=words):
            wrong()


def test_statistics_are_those_of_the_program(orbit, db):
    stats = db.stats("check", "year", "result*eco:1")
    command = [orbit, "scan", "-q", "--stats", "year,result*eco:1", "--stats-format", "json", "-e", "check", SAMPLE]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert stats.total == told["total"] and stats.groupings == told["groupings"]
    assert len(stats) == sum(map(len, told["groupings"].values())) > 10


def test_hits_iterate_and_slice(db):
    scan = db.scan("flipcolor {Bh7 kg8}")
    hits = scan.hits()
    assert [(hit.game.number, hit.node) for hit in scan] == [(hit.game.number, hit.node) for hit in hits]
    assert len(hits) == scan.count().positions
    assert {hit.game.number for hit in db.hits("check", limit=5)} == set(
        sorted({hit.game.number for hit in db.hits("check")})[:5]
    )
    games = db.games("flipcolor {Bh7 kg8}")
    assert [game.number for game in games] == sorted({hit.game.number for hit in hits})
    assert len(games) == scan.count().games
    assert len(db.games("power A", best=True, limit=4)) == 4


def test_copies_of_hits(db):
    for hit in db.hits("shift flip flipcolor {Nd4 kf3}", copies="all", limit=20):
        copies = hit.copies
        assert len(copies) == hit.copies_count >= 1
        assert copies[0] == (hit.copy, hit.pattern, hit.transform)
        board = hit.board()
        for piece in hit.pattern.strip("{}").split():
            found = board.piece_at(chess.parse_square(piece[1:3]))
            assert found is not None and found.symbol() == piece[0], (hit.pattern, hit.fen)


def test_boards_agree_with_python_chess(db):
    """Compares the positions, moves and FENs of 1,000 hits with those that python-chess computes from the PGN of the games."""
    hits = db.hits("true", where="year>=1900")[::60][:1000]
    assert len(hits) == 1000
    games = {}
    for hit in hits:
        game = hit.game
        nodes = games.setdefault(game.number, list(game.chess().mainline()))
        board = game.board() if hit.ply == 0 else nodes[hit.ply - 1].board()
        assert board.fen(en_passant="legal") == hit.board().fen(en_passant="legal") == hit.fen
        if hit.ply:
            assert nodes[hit.ply - 1].san() == hit.san
        if hit.next is not None:
            assert nodes[hit.ply].san() == hit.next


def test_positions_agree_with_python_chess(db):
    columns = db.positions("true", limit=12).numpy()
    at = 0
    for number in range(1, 13):
        game = db.game(number)
        board = game.chess().board()
        moves = list(game.chess().mainline_moves())
        result = {"1-0": 1, "0-1": -1, "1/2-1/2": 0, "*": -1}[game.result]
        for ply, move in enumerate([*moves, None]):
            assert (columns["game"][at], columns["node"][at]) == (number, ply)
            for square in chess.SQUARES:
                piece = board.piece_at(square)
                code = 0 if piece is None else piece.piece_type + (0 if piece.color else 8)
                assert columns["board"][at][square] == code
            assert columns["black_to_move"][at] == (board.turn == chess.BLACK)
            rights = [
                board.has_kingside_castling_rights(chess.WHITE),
                board.has_queenside_castling_rights(chess.WHITE),
                board.has_kingside_castling_rights(chess.BLACK),
                board.has_queenside_castling_rights(chess.BLACK),
            ]
            assert columns["castling"][at] == sum(right << bit for bit, right in enumerate(rights))
            if move is None:
                assert columns["move_from"][at] == columns["move_to"][at] == columns["promotion"][at] == -1
            else:
                assert (columns["move_from"][at], columns["move_to"][at]) == (move.from_square, move.to_square)
                assert columns["promotion"][at] == (move.promotion or 0)
                board.push(move)
            assert columns["result"][at] == result
            at += 1
    assert at == len(columns["game"])


def test_positions_share_memory_with_arrow(db):
    import pyarrow

    table = pyarrow.table(db.positions("mate"))
    chunk = table.column("board").chunk(0)
    view = chunk.flatten().to_numpy(zero_copy_only=True)
    assert view.ctypes.data == chunk.flatten().buffers()[1].address
    assert table.schema.field("board").type == pyarrow.list_(pyarrow.field("item", pyarrow.uint8(), nullable=False), 64)


def test_promotions_and_castling_of_positions():
    db = orbit_chess.loads("1. e4 d5 2. e5 f5 3. exf6 d4 4. fxg7 d3 5. gxh8=N dxc2 6. Nf3 cxb1=Q 7. Be2 e5 8. O-O *")
    columns = db.positions().numpy()
    assert columns["promotion"].tolist() == [0] * 8 + [2, 0, 0, 5, 0, 0, 0, -1]
    assert (columns["move_from"][14], columns["move_to"][14]) == (chess.E1, chess.G1)
    assert columns["en_passant"][4] == chess.F6
    assert set(columns["result"].tolist()) == {-1}


def test_boards_are_queries(db):
    board = chess.Board()
    board.push_san("e4")
    assert db.count(board) == db.count(orbit_chess.query_of_board(board))
    by_fen = {hit.fen.split(" ")[0] for hit in db.hits(board, limit=5)}
    assert by_fen == {board.board_fen()}
    base = chess.BaseBoard(board.board_fen())
    assert db.count(base).positions >= db.count(board).positions
    like = db.scan(orbit_chess.query_of_board(board, similar=True), best=True, sort="value", limit=3)
    assert like.hits()[0].value == 100
    assert orbit_chess.query_of_board("8/8/8/8/3N4/5k2/8/8", "shift").text == "shift {kf3 Nd4}"


def test_games_of_python_chess_are_databases():
    game = chess.pgn.Game()
    node = game
    for move in ["f2f3", "e7e5", "g2g4", "d8h4"]:
        node = node.add_variation(chess.Move.from_uci(move))
    db = orbit_chess.loads(str(game))
    assert db.count("mate") == (1, 1)
    assert db.hits("mate")[0].board().is_checkmate()


def test_chess960_boards():
    fen = "5k1r/8/8/8/8/8/8/1R2K2R w HBh - 0 1"
    db = orbit_chess.loads(f'[FEN "{fen}"]\n[SetUp "1"]\n\n1. O-O *')
    board = db.hits("true")[0].board()
    assert board.chess960 and board.has_kingside_castling_rights(chess.WHITE)
    assert not db.hits("true")[1].board().has_castling_rights(chess.WHITE)
    assert db.positions().numpy()["castling"].tolist() == [7, 4]


def test_games_as_pgn(db, tmp_path, orbit):
    path = tmp_path / "mates.pgn"
    assert db.scan("mate").pgn(path) == db.count("mate").games
    subprocess.run([orbit, "scan", "-q", "-e", "mate", SAMPLE, "-o", tmp_path / "told.pgn"], check=True)
    assert path.read_bytes() == (tmp_path / "told.pgn").read_bytes()
    command = [orbit, "scan", "-q", "--sort=date", "--skip=2", "-n5", "-e", "mate", SAMPLE, "-o", tmp_path / "newest.pgn"]
    subprocess.run(command, check=True)
    assert db.scan("mate", sort="date", skip=2, limit=5).pgn(path) == 5
    assert path.read_bytes() == (tmp_path / "newest.pgn").read_bytes()
    command = [orbit, "scan", "-q", "--sample=4", "--seed=3", "-e", "mate", SAMPLE, "-o", tmp_path / "some.pgn"]
    subprocess.run(command, check=True)
    assert db.scan("mate", sample=4, seed=3).pgn(path) == 4
    assert path.read_bytes() == (tmp_path / "some.pgn").read_bytes()
    assert db.scan("mate", sort="date", limit=0).pgn(path) == 0
    assert db.scan("mate", limit=3).pgn(tmp_path / "three.pgn.zst") == 3
    assert orbit_chess.open(tmp_path / "three.pgn.zst").games_count == 3


def test_reports_and_heat_maps(db, tmp_path):
    db.scan("shift {Nd4 kf3}", where="year>=2000").report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "year&gt;=2000" in page
    db.scan("shift {Nd4 kf3}", sort="date").report(tmp_path / "newest.html", title="Knights")
    assert "<title>Knights" in (tmp_path / "newest.html").read_text()
    heat = db.scan("shift {Nd4 kf3}").heat()
    assert "data:image/svg+xml" in heat._repr_html_() and heat.svg.count("<svg") == 1
    assert db.scan("mate").heat().svg is None


def test_pictures(db):
    import xml.etree.ElementTree as tree

    hit = db.hits("N attacks q", limit=1)[0]
    svg = hit._repr_svg_()
    assert tree.fromstring(svg).tag.endswith("svg")
    assert svg.count('class="lit"') == len(hit.squares) == 1
    assert tree.fromstring(hit.game._repr_svg_()) is not None
    assert db.hits("mate")._repr_html_().count("<img") == 12
    assert "and 13 more" in db.hits("mate")._repr_html_()
    assert "<table>" in db.games("mate")._repr_html_()
    assert "<table>" in db.stats("mate", "result")._repr_html_()
    lit = orbit_chess.board_svg(chess.Board(), lit=["e4", chess.D4], arrows=[("e2", "e4")])
    assert lit.count('class="lit"') == 2 and "arrow first" in lit


def test_side_lines_are_searched(odd):
    assert orbit_chess.open(odd).count("cql() true") == orbit_chess.open(odd).count("true")
    db = orbit_chess.open(odd, variations=True)
    assert db.count("true", variations=True).positions > db.count("true").positions
    hit = [hit for hit in db.hits("true", variations=True) if hit.san == "c3"][0]
    assert "(2. c3 d5)" in hit.game.pgn() or "2. c3" in hit.game.pgn()
    with pytest.raises(orbit_chess.OptionError, match="side lines"):
        orbit_chess.open(odd).count("true", variations=True)


def test_errors_of_queries(db):
    with pytest.raises(orbit_chess.QueryError) as caught:
        db.scan("flip {R[a8-1] kh8}")
    error = caught.value
    assert (error.line, error.column, error.query) == (1, 10, "flip {R[a8-1] kh8}")
    assert error.message == "rank range runs backwards"
    assert str(error).splitlines()[0] == "error: rank range runs backwards"
    assert "         ^^^" in str(error)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"where": "elo>>3"}, "elo"),
        ({"player": ""}, "name"),
        ({"side": "white"}, "`player`"),
        ({"player": "Carlsen", "side": "green"}, "green"),
        ({"player": "Carlsen", "rating": "high"}, "range of ratings"),
        ({"best": True}, "needs a query whose value"),
        ({"sort": "value"}, "needs a query whose value"),
        ({"sort": "height"}, "no order"),
        ({"engine": "steam"}, "no engine"),
        ({"columns": ["colour"]}, "`colour` is no column"),
        ({"columns": ["fen"], "values": False}, "leave out"),
        ({"copies": "some"}, "copies"),
        ({"rows": "moves"}, "no kind of rows"),
        ({"sort": "elo", "sample": 3}, "`sort` and `sample` exclude each other"),
        ({"sample": 3, "limit": 2}, "leave out `limit`"),
        ({"reverse": True}, "give `sort` with it"),
        ({"side": "white"}, "`side`, `rating`, `opponent` and `opponent_rating` are of a player"),
        ({"best": True}, "`best` needs a query whose value"),
        ({"sort": "value"}, "`sort=value` needs a query whose value"),
        ({"sort": "length"}, "`sort=length` needs a query whose hits consist of moves"),
        ({"limt": 3}, "there is no option `limt`; did you mean `limit`"),
        ({"theme": "greek-gift"}, "there is no option `theme`"),
        ({"where": [5]}, "a text or a list of texts"),
        ({"where": [object()]}, "a list of texts"),
        ({"first": True, "best": True}, "first"),
        ({"limit": -1}, "`limit`: "),
        ({"unique": True}, "`unique`: "),
        ({"columns": []}, "`columns` names no column"),
        ({"at": "e4 c5"}, "a query or, in its place, a position with the option `at`"),
    ],
    ids=str,
)
def test_errors_of_options(db, keywords, words):
    with pytest.raises(orbit_chess.OptionError, match=words):
        db.scan("mate", **keywords).pyarrow()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"engine": "gpu", "gpu": "none"}, "exclude each other"),
        ({"gpu_memory": 0}, "`gpu_memory` is 0"),
        ({"engine": "fast"}, "fast"),
    ],
    ids=str,
)
def test_errors_of_cards(keywords, words):
    with pytest.raises(orbit_chess.OptionError, match=words):
        orbit_chess.open(SAMPLE, **keywords)


def test_a_card_is_chosen_by_its_name():
    db = orbit_chess.open(SAMPLE, engine="gpu", gpu="no card has this name", gpu_memory=1 << 30)
    with pytest.raises(orbit_chess.OrbitError, match="no card has this name"):
        db.count("mate")
    assert orbit_chess.open(SAMPLE, gpu="none").count("mate") == orbit_chess.open(SAMPLE, engine="cpu").count("mate")


@pytest.mark.parametrize("keywords", [{"limit": 3}, {"limit": 0}, {"skip": 20}, {"sample": 4}, {"sort": "elo"}], ids=str)
def test_counts_are_of_all_games(db, keywords):
    words = "are of all games: leave out `skip`, `limit`, `sort` and `sample`"
    with pytest.raises(orbit_chess.OptionError, match=words):
        db.count("mate", **keywords)
    with pytest.raises(orbit_chess.OptionError, match=words):
        db.stats("mate", "year", **keywords)
    with pytest.raises(orbit_chess.OptionError, match=words):
        db.scan("shift N", **keywords).heat()
    with pytest.raises(orbit_chess.OptionError, match=words):
        db.batch({"mates": "mate"}, **keywords)


def test_groupings_have_what_they_group(db):
    with pytest.raises(orbit_chess.OptionError, match="`opponent` groups the games of one player: add `player=NAME`"):
        db.stats("mate", "opponent")
    with pytest.raises(orbit_chess.OptionError, match="`groupings=length` counts the moves of which hits consist"):
        db.stats("mate", "length")


def test_a_position_is_in_place_of_a_query(db, orbit):
    command = [orbit, "scan", "-q", "-F", "jsonl", "--at", "e4 c5", SAMPLE]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [hit.game.number for hit in db.hits(at="e4 c5")] == [json.loads(line)["game"] for line in lines]
    assert db.count(at="e4 c5") == (152, 152)
    assert db.scan(at="e4 c5", where="result=1-0").pyarrow().num_rows < 152
    assert len(db.positions(at="e4 c5").numpy()["game"]) == 152
    for wrong in (lambda: db.scan(), lambda: db.batch({"mates": "mate"}, at="e4 c5")):
        with pytest.raises(orbit_chess.OptionError, match="in its place"):
            wrong()
    with pytest.raises(orbit_chess.OptionError, match="`at`: `e9` is no move"):
        db.count(at="e9")


def test_errors_of_files(db, tmp_path):
    with pytest.raises(orbit_chess.DatabaseError, match="nowhere.pgn"):
        orbit_chess.open("nowhere.pgn")
    with pytest.raises(orbit_chess.OptionError):
        orbit_chess.open()
    with pytest.raises(orbit_chess.OutputError, match="nowhere"):
        db.scan("mate").pgn(tmp_path / "nowhere" / "mates.pgn")
    own = tmp_path / "own.pgn"
    own.write_bytes(ODD)
    with pytest.raises(orbit_chess.OutputError, match="own.pgn"):
        orbit_chess.open(own).scan("true").pgn(own)
    assert own.read_bytes() == ODD
    with pytest.raises(orbit_chess.OptionError, match="grouping"):
        db.stats("mate", "colour")
    with pytest.raises(IndexError):
        db.game(100_000)
    with pytest.raises(IndexError, match="no node"):
        db.game(1).fen(10_000)
    cut = tmp_path / "cut.pgn.zst"
    db.scan("true").pgn(cut)
    cut.write_bytes(cut.read_bytes()[:-2000])
    with pytest.warns(orbit_chess.ReadWarning, match="not read beyond"):
        orbit_chess.open(cut)


def test_what_is_not_read_and_reels_of_other_rules_are_told(orbit, tmp_path):
    path, reel = tmp_path / "odd.pgn", tmp_path / "other.reel"
    path.write_bytes(ODD)
    subprocess.run([orbit, "index", "-q", path, "-o", reel], check=True)
    assert orbit_chess.open(reel).count("initial") == (2, 2)
    # The header contains the version of the parsing rules, and a checksum.
    data = bytearray(reel.read_bytes())
    data[48:52] = (int.from_bytes(data[48:52], "little") - 1).to_bytes(4, "little")
    data[12:16] = bytes(4)
    data[12:16] = zlib.crc32(data[:64]).to_bytes(4, "little")
    reel.write_bytes(data)
    with pytest.warns(orbit_chess.ReadWarning, match="another version of orbit made .*other.reel and read games by other rules"):
        assert orbit_chess.open(reel).count("initial") == (2, 2)
    reel.rename(tmp_path / "odd.reel")
    with pytest.warns(orbit_chess.ReadWarning, match="reading .*odd.pgn, not .*odd.reel"):
        assert orbit_chess.open(path).count("initial") == (2, 2)
    (tmp_path / "old.rar").touch()
    with pytest.warns(orbit_chess.ReadWarning, match="old.rar is not read"):
        orbit_chess.open(tmp_path)


def test_a_fault_midway_is_the_exception(tmp_path):
    """Consumers of a stream replace the exception that ended it, but the methods of a scan raise the original one."""
    path = tmp_path / "games.pgn"
    path.write_bytes(ODD)
    db = orbit_chess.open(path, memory=0)
    scan = db.scan("true")
    path.write_bytes(ODD + ODD)
    with pytest.raises(orbit_chess.DatabaseError, match="has changed"):
        scan.pyarrow()
    with pytest.raises(orbit_chess.DatabaseError, match="has changed"):
        list(scan)


#: A search that would take hours on a slow engine. The process uses processor time only while it searches. Once it has used half
#: a second, another thread prints `running`. If nobody ends the process, it ends itself.
SLOW = """
import faulthandler, threading, time
import polars, pyarrow
import orbit_chess

faulthandler.dump_traceback_later({patience}, exit=True)
db = orbit_chess.open(*["games/sample.pgn"] * 20_000, memory=0, threads=2)
scan = db.scan("#(A attacks a)>40 or #(a attacks A)>40 or #(A attacks A)>40 or check", engine="reference")

def tell(before):
    while time.process_time() < before + 0.5:
        time.sleep(0.005)
    print("running", flush=True)

threading.Thread(target=tell, args=[time.process_time()], daemon=True).start()
try:
    {action}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@contextlib.contextmanager
def searching(action):
    """Starts a process, and yields it while it runs a search."""
    code = SLOW.replace("{action}", action).replace("{patience}", str(PATIENCE))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "running\n"
            yield run
        finally:
            run.kill()


@pytest.mark.parametrize(
    "action",
    ["scan.count()", "list(scan)", "scan.polars()", "scan.pyarrow()"],
)
def test_ctrl_c(action):
    with searching(action) as run:
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate()
    assert out == "interrupted\n" and run.returncode == 0


@pytest.mark.parametrize("action", ["scan.count()", "scan.polars()"])
def test_other_threads_run_meanwhile(action):
    """The interpreter's lock is free while a search runs, so another thread can print `running`."""
    with searching(action) as run:
        assert run.poll() is None


def test_searches_side_by_side(db):
    from concurrent.futures import ThreadPoolExecutor

    queries = ["mate", "check", "stalemate", "N attacks q"] * 3
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(db.count, queries))
    assert counts == [db.count(query) for query in queries]


def test_progress(db):
    seen = []
    count = db.scan("check", progress=lambda *told: seen.append(told)).count()
    assert count.games > 0
    read, total, games, positions = seen[-1]
    assert (read, games, positions) == (total, db.games_count, db.positions_count)
    db.scan("check", progress=True).count()

    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        db.scan("check", progress=fail).count()


def program(*words, **options):
    """Runs the program of the package."""
    return subprocess.run([sys.executable, "-m", "orbit_chess", *map(str, words)], capture_output=True, check=False, **options)


def test_the_program_of_the_package_is_the_program(orbit, tmp_path):
    for words in (["scan", "-q", "mate", SAMPLE], ["--help"], ["--version"], ["job", "part", "--help"], ["scan", "flip {Ra8", SAMPLE]):
        ours, theirs = program(*words), subprocess.run([orbit, *words], capture_output=True, check=False)
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr), words
    # The scripts that `job slurm` writes start the program of the package again.
    assert program("index", "-q", SAMPLE, "-o", tmp_path / "a.reel").returncode == 0
    reels = [tmp_path / "a.reel"] * 2
    planned = program("job", "plan", "check", *reels, "-o", f"{tmp_path}/out/")
    assert planned.returncode == 0 and planned.stdout.endswith(b" in a part\n"), planned
    assert program("job", "slurm", tmp_path / "out", "--array", "2").returncode == 0
    for task in "21":
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": task, "SLURM_RESTART_COUNT": "3"}
        assert subprocess.run(["sh", tmp_path / "out/parts.sh"], env=environment, check=False).returncode == 0
    assert subprocess.run(["sh", tmp_path / "out/merge.sh"], check=False, capture_output=True).returncode == 0
    assert (tmp_path / "out/merged.out").read_bytes() == program("scan", "-q", "check", *reels).stdout


def test_parts_are_the_whole(tmp_path):
    """The rows of all parts, joined in order, must equal those of the whole database. Options that need all games are rejected."""
    for name in "ab":
        assert program("index", "-q", SAMPLE, "-o", tmp_path / f"{name}.reel").returncode == 0
    db = orbit_chess.open(tmp_path / "a.reel", tmp_path / "b.reel")
    for query, options in [("check", {}), ("mate", {"rows": "games"}), ("gamenumber % 7 == 3", {}), ("k attackedby N", {"first": True})]:
        whole = db.scan(query, **options).pyarrow()
        for count in (1, 2, 3, 7, 1000):
            parts = db.parts(count)
            assert [part.first for part in parts[1:]] == [part.end for part in parts[:-1]]
            tables = [db.scan(query, **options, part=part).pyarrow() for part in parts]
            import pyarrow

            assert pyarrow.concat_tables(tables).equals(whole) and whole.num_rows > 10, (query, count)
    assert len(db.parts()) == 2 and sum(part.positions for part in db.parts()) == db.positions_count
    db.count("mate", part=db.parts()[0])
    assert db.positions_count == sum(part.positions for part in db.parts())
    with pytest.raises(orbit_chess.OptionError, match="search the database as a whole"):
        db.scan("mate", limit=3, part=db.parts()[0])
    with pytest.raises(orbit_chess.OptionError, match="search the database as a whole"):
        db.scan("mate", sort="elo", part=db.parts()[0])
    with pytest.raises(orbit_chess.DatabaseError, match="there are no blocks"):
        db.count("mate", part=orbit_chess.Part(0, 9999, 0))
    with pytest.raises(orbit_chess.OptionError, match="only a database of reels"):
        orbit_chess.open(SAMPLE).parts()
    with pytest.raises(orbit_chess.OptionError, match="1 part or more"):
        db.parts(0)


def test_without_ray():
    code = "import sys; sys.modules['ray'] = None\nimport orbit_chess.ray"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install 'orbit-chess[ray]'" in done.stderr.splitlines()[-1], done.stderr
