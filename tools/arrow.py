"""Times two ways to put hits into a data frame: Arrow record batches of the Python package, and JSON Lines of the program.

    python tools/arrow.py [MILLIONS]

MILLIONS is the number of rows in millions, by default 10. The script searches copies of games/sample.pgn as reels with the query
`true`. Each way runs in a process of its own, and its peak memory is printed. COLUMNS_OF_ROWS names the columns. This needs
polars, pyarrow and the package as `python/check --release` builds it; the program is that of the package.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

COLUMNS = os.environ.get("COLUMNS_OF_ROWS", "game,white,black,date,result,ply,san,fen").split(",")
ROOT = pathlib.Path(__file__).resolve().parents[1]
CHUNK_ROWS = 200_000


def database(reels):
    import orbit_chess

    return orbit_chess.open(*reels, memory=0)


def arrow(reels):
    """Creates a data frame from the record batches."""
    import polars

    return len(polars.DataFrame(database(reels).scan("true", columns=COLUMNS)))


def batches(reels):
    """Reads the record batches one after the other, without keeping them."""
    import pyarrow

    reader = pyarrow.RecordBatchReader.from_stream(database(reels).scan("true", columns=COLUMNS))
    return sum(batch.num_rows for batch in reader)


def json_lines(reels):
    """Creates a data frame from the program's output lines, which Python's `json` parses."""
    import polars

    command = [sys.executable, "-m", "orbit_chess", "scan", "-q", "-F", "jsonl", "--columns", ",".join(COLUMNS), "true", *reels]
    frames, rows = [], []
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        for line in program.stdout:
            rows.append(json.loads(line))
            if len(rows) == CHUNK_ROWS:
                frames.append(polars.DataFrame(rows, infer_schema_length=None))
                rows.clear()
    frames.append(polars.DataFrame(rows, infer_schema_length=None, schema=frames[0].schema if frames else None))
    return len(polars.concat(frames))


WAYS = {"arrow": arrow, "batches": batches, "json": json_lines}


def main():
    if len(sys.argv) > 2:
        begun = time.monotonic()
        rows = WAYS[sys.argv[1]](sys.argv[2:])
        seconds = time.monotonic() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"rows": rows, "seconds": seconds, "peak_mib": peak}))
        return
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory() as folder:
        reel = f"{folder}/sample.reel"
        program = [sys.executable, "-m", "orbit_chess"]
        subprocess.run([*program, "index", "-q", str(ROOT / "games/sample.pgn"), "-o", reel], check=True)
        count = max(1, round(millions * 1e6 / 87_461))
        took = {}
        for name in WAYS:
            command = [sys.executable, __file__, name, *[reel] * count]
            told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            took[name] = told
            print(f"{name:8} {told['rows']:>12,} rows  {told['seconds']:8.1f} s  {told['peak_mib']:8.0f} MiB at most", flush=True)
        assert len({told["rows"] for told in took.values()}) == 1, took
        print(f"arrow is {took['json']['seconds'] / took['arrow']['seconds']:.1f} times as fast as json")


if __name__ == "__main__":
    main()
