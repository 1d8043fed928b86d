"""Checks options, files and threads that callers handle carelessly: relative paths, buffers, samples, and shared iterators."""

import concurrent.futures
import gzip
import io
import pathlib
import warnings

import pytest

import orbit_chess

TWO = '[White "A"]\n\n1. e4 e5 2. Nf3 *\n\n[White "B"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 *\n'


def test_relative_paths_belong_to_the_folder_of_the_opening(tmp_path, monkeypatch):
    """A source is not overwritten, and another file of the same name is not read in its place."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "s.pgn").write_text(TWO)
    monkeypatch.chdir(tmp_path / "a")
    held, streamed = orbit_chess.open("s.pgn"), orbit_chess.open("s.pgn", memory=0)
    monkeypatch.chdir(tmp_path / "b")
    (tmp_path / "b" / "s.pgn").write_text("1. d4 *\n")
    for db in (held, streamed):
        with pytest.raises(orbit_chess.OutputError):
            db.scan("true").pgn(tmp_path / "a" / "s.pgn")
    assert (tmp_path / "a" / "s.pgn").read_text() == TWO
    assert held.count("true").games == 2
    with pytest.raises(orbit_chess.DatabaseError, match="no longer the working folder"):
        streamed.count("true")


def test_games_are_sorted_by_all_their_hits():
    db = orbit_chess.loads(TWO)
    query = "power A - power a"
    assert [game.white for game in db.games(query, sort="value", limit=1)] == ["B"]
    assert [game.white for game in db.scan(query, sort="value", limit=1).games()] == ["B"]


def test_texts_in_any_buffer_are_games():
    for text in (TWO, TWO.encode(), bytearray(TWO.encode()), memoryview(TWO.encode())):
        assert [len(game.sans()) for game in orbit_chess.loads(text).games("true")] == [3, 5]
    for wrong in (None, io.StringIO(TWO), pathlib.Path("a.pgn")):
        with pytest.raises(orbit_chess.OptionError, match="`loads` takes the text of games"):
            orbit_chess.loads(wrong)


def test_the_first_games_of_a_sample_belong_to_it(db):
    scan = db.scan("check", sample=10, seed=3, first=True)
    numbers = [hit.game.number for hit in scan.hits()]
    assert len(numbers) == 10
    assert [hit.game.number for hit in scan.hits(3)] == numbers[:3]


def test_files_that_searches_cannot_read_to_their_end_are_told_once(tmp_path):
    packed = gzip.compress((TWO * 2000).encode())
    (tmp_path / "cut.pgn.gz").write_bytes(packed[: len(packed) // 2])
    searches = [lambda scan: scan.count(), lambda scan: list(scan), lambda scan: scan.pyarrow()]
    for search in searches:
        db = orbit_chess.open(tmp_path / "cut.pgn.gz", memory=0)
        with pytest.warns(orbit_chess.ReadWarning, match="cut.pgn.gz: not read beyond byte"):
            search(db.scan("true"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            search(db.scan("true"))


def test_an_iterator_may_be_shared_by_threads(db):
    for _ in range(20):
        hits = iter(db.scan("check", limit=5))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            counts = list(pool.map(lambda _: sum(1 for _ in hits), range(8)))
        assert sum(counts) == len(db.hits("check", limit=5))


def test_types_of_arrays_do_not_depend_on_values(db):
    first, all_ = (db.positions(query).numpy() for query in ("ply < 2", "true"))
    assert {name: column.dtype for name, column in first.items()} == {name: column.dtype for name, column in all_.items()}


def test_options_that_are_no_values_are_refused(db):
    for options in ({"where": "white~\udcff"}, {"limit": float("nan")}):
        with pytest.raises(orbit_chess.OptionError, match="an option is text, a number or a list of texts"):
            db.count("mate", **options)
