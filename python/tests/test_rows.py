"""Compares the rows of tables with the JSON Lines of the program, for each library that reads the tables."""

import json
import math
import pathlib
import subprocess
import sys

import pytest

import orbit_chess
from conftest import SAMPLE

#: Queries, each with options of the program and the corresponding options of `scan`.
CASES = [
    ("mate", [], {}),
    ("shift flip flipcolor {Nd4 kf3}", [], {}),
    ("flipcolor {Bh7 kg8}", ["--where", "result=1-0", "--where", "year>=2000"], {"where": ["result=1-0", "year>=2000"]}),
    ("k attackedby N", ["--limit", "40"], {"limit": 40}),
    ("N attacks q", ["--first"], {"first": True}),
    ("power A", ["--best", "--where", "year>=2015"], {"best": True, "where": "year>=2015"}),
    ("power A", ["--best", "--sort", "value", "--limit", "7"], {"best": True, "sort": "value", "limit": 7}),
    ("check", ["--sample", "9", "--seed", "3"], {"sample": 9, "seed": 3}),
    ("check", ["--rows", "games"], {"rows": "games"}),
    ("line --> {move capture .}{2,}", ["--limit", "30"], {"limit": 30}),
    ("mate", ["--columns", "game,fen,matched,tags"], {"columns": ["game", "fen", "matched", "tags"]}),
    ("mate", ["--where", "white=Nobody"], {"where": "white=Nobody"}),
    ("flipcolor {Bh7 kg8}", ["--player", "Carlsen"], {"player": "Carlsen"}),
]
NAMES = [" ".join([query, *options]) for query, options, _ in CASES]


def json_lines(orbit, query, options, path=SAMPLE):
    command = [orbit, "scan", "-q", "-F", "jsonl", "-e", query, *options, path]
    lines = subprocess.run(command, check=True, capture_output=True).stdout.decode().splitlines()
    return [json.loads(line) for line in lines]


def pyarrow_rows(scan):
    import pyarrow

    return pyarrow.table(scan).to_pylist(maps_as_pydicts="strict")


def polars_rows(scan):
    import polars

    return polars.DataFrame(scan).to_dicts()


def pandas_rows(scan):
    import pandas

    frame = scan.pandas()
    assert isinstance(frame, pandas.DataFrame)
    return frame.to_dict("records")


def duckdb_rows(scan):
    import duckdb

    found = duckdb.sql("select * from scan")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def plain(value):
    """Converts a value of a data frame to its JSON form. Data frames use NaN for null, and floats in columns with nulls."""
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if type(value).__name__ == "NAType":
        return None
    return value


def as_map(value):
    """Converts a list of pairs to a map, for readers that do not support maps."""
    if isinstance(value, list):
        pairs = [tuple(pair.values()) if isinstance(pair, dict) else tuple(pair) for pair in value]
        return dict(pairs)
    return value


def same(rows, expected):
    rows = [plain(row) for row in rows]
    for row in rows:
        for name in ("tags", "matched"):
            if name in row:
                row[name] = as_map(row[name])
    assert rows == expected


@pytest.mark.parametrize("read", [pyarrow_rows, polars_rows, pandas_rows, duckdb_rows])
@pytest.mark.parametrize(("query", "options", "keywords"), CASES, ids=NAMES)
def test_rows_are_those_of_json_lines(orbit, query, options, keywords, read):
    db = orbit_chess.open(SAMPLE)
    same(read(db.scan(query, **keywords)), json_lines(orbit, query, options))


def test_most_cases_have_rows(orbit):
    sizes = [len(json_lines(orbit, query, options)) for query, options, _ in CASES]
    assert sum(size > 5 for size in sizes) >= 9, sizes


@pytest.mark.parametrize("read", [pyarrow_rows, polars_rows, pandas_rows, duckdb_rows])
def test_side_lines_and_odd_texts(orbit, odd, read):
    db = orbit_chess.open(odd, variations=True)
    rows = json_lines(orbit, "true", ["--variations"], odd)
    assert any(row["line"] for row in rows) and any("é" in (row["white"] or "") for row in rows)
    same(read(db.scan("true", variations=True)), rows)


@pytest.mark.parametrize("read", [pyarrow_rows, polars_rows, pandas_rows, duckdb_rows])
@pytest.mark.parametrize("where", ["", "clock<30", "eval>=2"])
def test_clocks_and_evaluations(orbit, read, where):
    path, columns = "tests/data/games/measures.pgn", ["game", "ply", "clock", "spent", "eval", "eval_mate"]
    options = ["--columns", ",".join(columns), *(["--where", where] if where else [])]
    rows = json_lines(orbit, "Nf3 btm", options, path)
    assert len(rows) > 100 and any(isinstance(row["clock"], float) for row in rows)
    db = orbit_chess.open(path, variations=True)
    conditions = [where] if where else []
    same(read(db.scan("Nf3 btm", columns=columns, where=conditions)), rows)
    with pytest.raises(orbit_chess.OptionError, match="comments"):
        orbit_chess.open(path).scan("Nf3 btm", columns=columns, where=conditions).pyarrow()


def test_columns_can_be_left_out(db):
    names = db.scan("mate", values=False, copies=False).columns
    assert "value" not in names and "pattern" not in names and "fen" in names
    # Selecting columns must not change the copies in the rows.
    query = "shift flip flipcolor {Nd4 kf3}"
    every = db.scan(query).pyarrow()
    assert db.scan(query, columns=["matched"]).pyarrow().column("matched").equals(every.column("matched"))
    for name in every.column_names:
        assert db.scan(query, columns=[name]).pyarrow().column(name).equals(every.column(name)), name
    assert db.scan(query, columns=["copies"]).pyarrow().column("copies").equals(every.column("copies"))


def test_without_pyarrow(orbit):
    """Polars must be able to read the stream even if pyarrow is not installed."""
    expected = json_lines(orbit, "mate", [])
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import json, orbit_chess, polars\n"
        f"frame = orbit_chess.open({SAMPLE!r}).scan('mate').polars()\n"
        "print(json.dumps(frame.to_dicts()))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    same(json.loads(out), expected)


def test_nanoarrow(orbit):
    """nanoarrow reads the stream. It does not support maps."""
    import nanoarrow

    names = ["game", "white", "fen", "squares", "squares_count"]
    stream = nanoarrow.ArrayStream(orbit_chess.open(SAMPLE).scan("k attackedby N", columns=names))
    expected = json_lines(orbit, "k attackedby N", ["--columns", ",".join(names)])
    same(stream.read_all().to_pylist(), expected)


def test_batches_come_while_the_search_runs():
    """The search must end when its stream is dropped, and each iteration must start a new search."""
    import pyarrow

    db = orbit_chess.loads(pathlib.Path(SAMPLE).read_bytes() * 5)

    scan = db.scan("true")
    reader = pyarrow.RecordBatchReader.from_stream(scan)
    first = reader.read_next_batch()
    assert 0 < first.num_rows < db.positions_count
    reader.close()
    del reader
    assert pyarrow.table(scan).num_rows == db.count("true").positions == db.positions_count


def test_a_database_that_is_not_held(orbit):
    db = orbit_chess.open(SAMPLE, memory=0)
    assert db.games_count is None
    same(pyarrow_rows(db.scan("mate")), json_lines(orbit, "mate", []))
