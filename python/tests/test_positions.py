"""Compares orbit's counts for positions, and for moves before and after hits, with python-chess, which replays the same games."""

import collections
import itertools
import json
import random
import subprocess

import chess
import chess.pgn
import pytest

from conftest import ROOT, SAMPLE
from test_explorer import position

RESULTS = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}
#: The number of games in which patterns are searched. Each position is also mirrored, which takes most of the time.
GAMES_OF_PATTERNS = 300


class Played:
    """A game with its boards, moves and result; the result is the index in `RESULTS`."""

    def __init__(self, game):
        self.moves = list(game.mainline_moves())
        self.result = RESULTS.get(game.headers["Result"])
        board = game.board()
        self.boards = [board.copy(stack=False)]
        for move in self.moves:
            board.push(move)
            self.boards.append(board.copy(stack=False))
        self.keys = [position(board) for board in self.boards]

    def san(self, ply):
        return self.boards[ply].san(self.moves[ply]) if ply < len(self.moves) else "(end)"

    def mirrored(self):
        """Returns the game with the colours swapped. The result is unchanged."""
        other = object.__new__(Played)
        other.boards = [board.mirror() for board in self.boards]
        squares = [(move, *map(chess.square_mirror, (move.from_square, move.to_square))) for move in self.moves]
        other.moves = [chess.Move(start, end, move.promotion) for move, start, end in squares]
        return other


@pytest.fixture(scope="module")
def games():
    with open(ROOT / SAMPLE, encoding="utf-8") as file:
        read = itertools.takewhile(bool, (chess.pgn.read_game(file) for _ in itertools.count()))
        return [Played(game) for game in read]


@pytest.fixture(scope="module")
def told(orbit, tmp_path_factory):
    """Returns a function that runs the program and parses its JSON. `GAMES` stands for a reel with a position table."""
    reel = tmp_path_factory.mktemp("reel") / "sample.reel"
    subprocess.run([orbit, "index", "-q", "--positions", ROOT / SAMPLE, "-o", reel], check=True)

    def run(*args):
        words = [orbit, *(str(reel) if word == "GAMES" else word for word in args)]
        return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)

    return run


def chosen(games, visits):
    """Returns frequent positions, and samples of those that recur, that a pawn can capture en passant in, and in which special
    moves are played."""
    pick = random.Random(43)
    counts = collections.Counter({key: len(places) for key, places in visits.items()})
    keys = [key for key, _ in counts.most_common(20)]
    again = [key for key, places in visits.items() if len(places) > len({game for game, _ in places})]
    moved = collections.defaultdict(list)
    for game in games:
        for ply, move in enumerate(game.moves):
            board = game.boards[ply]
            moved["castling"] += [game.keys[ply]] * board.is_castling(move)
            moved["promotion"] += [game.keys[ply]] * bool(move.promotion)
    for group in [*moved.values(), again, [key for key in visits if key[3] is not None], list(visits)]:
        assert len(group) > 5
        keys += pick.sample(sorted(set(group), key=str), 5)
    return list(dict.fromkeys(keys))


def fen(key):
    board = chess.Board(None)
    board.set_board_fen(key[0])
    board.turn, board.castling_rights, board.ep_square = key[1:]
    return board.fen()


def of_mover(result, is_white):
    """Returns the index of a result among the wins, draws and losses of the side that moves."""
    return result if is_white else 2 - result


def test_positions_and_the_moves_in_them_are_those_of_python_chess(games, told):
    visits = collections.defaultdict(list)
    for number, game in enumerate(games):
        for ply, key in enumerate(game.keys):
            visits[key].append((number, ply))
    for key in chosen(games, visits):
        total, moves = [0, 0, 0], collections.defaultdict(lambda: [0, 0, 0])
        nexts = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
        for number, places in itertools.groupby(visits[key], key=lambda visit: visit[0]):
            game, plies = games[number], [ply for _, ply in places]
            total[game.result] += 1
            # If a game visits the position several times, an explorer counts the move that is played at the last visit.
            if played := [ply for ply in plies if ply < len(game.moves)]:
                board = game.boards[played[-1]]
                board.chess960 = True
                uci = board.uci(game.moves[played[-1]])
                board.chess960 = False
                moves[uci][game.result] += 1
            for name, positions in collections.Counter(map(game.san, plies)).items():
                group = nexts[name]
                group[0], group[1] = group[0] + 1, group[1] + positions
                group[2 + of_mover(game.result, key[1])] += 1
        answer = told("explore", "-q", "--json", "--moves", "500", "GAMES", fen(key))
        results = {move["uci"]: [move["white"], move["draws"], move["black"]] for move in answer["moves"]}
        assert [answer["white"], answer["draws"], answer["black"]] == total, fen(key)
        assert results == moves, fen(key)
        assert groups(told("scan", "-q", "--at", fen(key), "--stats", "next", "--stats-format", "json", "GAMES"))["next"] == nexts
        facts = told("positions", "-q", "--json", "GAMES", fen(key))
        assert (facts["games"], facts["visits"]) == (sum(total), len(visits[key])), fen(key)


def groups(answer):
    """Returns for each grouping its groups, each with the numbers of games and positions and the results for the mover."""
    names = ["games_hit", "positions_hit", "mover_wins", "mover_draws", "mover_losses"]
    return {name: {row["key"]: [row[name] for name in names] for row in rows} for name, rows in answer["groupings"].items()}


def has(*men, turn=None):
    """Returns a pattern: men on squares, as in `Nd5`, or `_e2` for an empty square, and the side to move."""
    squares = [(chess.parse_square(man[1:]), None if man[0] == "_" else chess.Piece.from_symbol(man[0])) for man in men]

    def holds(board):
        return turn in (None, board.turn) and all(board.piece_at(square) == piece for square, piece in squares)

    return holds


#: Queries, each with a function that tests for the same pattern with python-chess.
PATTERNS = [
    ("Nd5", has("Nd5")),
    ("check", chess.Board.is_check),
    ("mate", chess.Board.is_checkmate),
    ("Pd4 Pe3 pc6 pd5", has("Pd4", "Pe3", "pc6", "pd5")),
    ("Ra7 wtm kg8", has("Ra7", "kg8", turn=chess.WHITE)),
    ("Kg1 Rf1 Nf3 Bg2 pe4", has("Kg1", "Rf1", "Nf3", "Bg2", "pe4")),
    ("flipcolor {Bb5 nc6 pd7 btm}", has("Bb5", "nc6", "pd7", turn=chess.BLACK)),
    ("flipcolor {Pd4 Pe4 wtm}", has("Pd4", "Pe4", turn=chess.WHITE)),
    ("flipcolor {Nf5 kg8}", has("Nf5", "kg8")),
    ("flipcolor {Pe5 btm pe6 pd5}", has("Pe5", "pe6", "pd5", turn=chess.BLACK)),
    ("flipcolor {Ke1 Ra1 Rh1 wtm pe5 Bc4}", has("Ke1", "Ra1", "Rh1", "pe5", "Bc4", turn=chess.WHITE)),
    ("flipcolor {Rd7 kg8 wtm}", has("Rd7", "kg8", turn=chess.WHITE)),
]


def noted(played, mirror, holds):
    """Returns for each grouping its groups in one game, each with the number of hits and the sides that play the moves. If
    `mirror` is given, a pattern also matches in it, and the moves are then those of the mirror."""
    notes = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, set()]))
    for ply, board in enumerate(played.boards):
        seen = next((game for game in (played, mirror) if game and holds(game.boards[ply])), None)
        if seen is None:
            continue
        first = seen.san(ply)
        names = [("next", first, board.turn), ("next:2", first, board.turn), ("next:played", played.san(ply), board.turn)]
        if ply + 1 < len(played.moves):
            names.append(("next:2", f"{first} {seen.san(ply + 1)}", board.turn))
        names.append(("previous", seen.san(ply - 1) if ply else "(start)", not board.turn))
        for grouping, name, mover in names:
            note = notes[grouping][name]
            note[0] += 1
            note[1].add(mover)
    return notes


def test_moves_beside_hits_are_those_of_python_chess(games, told):
    games = games[:GAMES_OF_PATTERNS]
    mirrors = [game.mirrored() for game in games]
    names = set()
    for query, holds in PATTERNS:
        due = {grouping: collections.defaultdict(lambda: [0] * 5) for grouping in ["next", "next:2", "next:played", "previous"]}
        for game, mirror in zip(games, mirrors):
            for grouping, notes in noted(game, mirror if query.startswith("flipcolor") else None, holds).items():
                for name, (positions, movers) in notes.items():
                    group = due[grouping][name]
                    group[0], group[1] = group[0] + 1, group[1] + positions
                    for is_white in movers:
                        group[2 + of_mover(game.result, is_white)] += 1
        few = f"gamenumber <= {GAMES_OF_PATTERNS} "
        # Moves are transformed back only if the transform is outermost.
        few = query.replace("{", "{" + few) if "{" in query else few + query
        answer = told("scan", "-q", "--stats", ",".join(due), "--stats-format", "json", few, "GAMES")
        assert groups(answer) == due, query
        names.update(due["next"])
    assert len(names) > 100 and "(end)" in names
