#!/usr/bin/env python3
"""Measures how time and memory grow with the number of games.

    tools/growth.py [--program target/release/orbit] [--games 1e6,1e7,1e8] [--more 1e7] [FILE.pgn]

The games of FILE.pgn (by default games/sample.pgn) are repeated and written to the program's standard input. Each repetition has
different names of Black, so no two games are equal. The names of White repeat after 4,000 repetitions. Only `orbit index` writes
to the temporary folder: 0.4 GB for each million games. For each number of games in --games, one search is measured. For each
number in --more, commands are measured that store something for each hit, game or name. The script prints a Markdown table with
the elapsed time, the CPU time and the peak memory.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUERY = "shift flip flipcolor {Nd4 kf3}"
WHITE_REPEATS = 4000
COUNT = ["scan", "--count", QUERY]
MORE = [
    ["scan", "--sort", "elo", "--limit", "10", "mate"],
    ["scan", "--stats", "white", "mate"],
    ["scan", "--count", "--unique=moves", "mate"],
    ["index", "--no-duplicates", "-o", "REEL"],
]


def numbers(text: str) -> list[int]:
    return [int(float(word)) for word in text.split(",") if word]


def pieces(path: Path) -> tuple[list[bytes], int]:
    """Returns the text of a file, cut after each player's name, where numbers are inserted, and the number of games."""
    text = path.read_bytes()
    cuts = [match.end(1) for match in re.finditer(rb'^\[(?:White|Black) "([^"]*)', text, re.MULTILINE)]
    cuts = [0, *cuts, len(text)]
    parts = [text[begin:end] for begin, end in zip(cuts, cuts[1:])]
    return parts, len(re.findall(rb"^\[Event ", text, re.MULTILINE))


def repetition(parts: list[bytes], number: int) -> bytes:
    """Returns the games of a repetition. The tag White must precede the tag Black in each game."""
    names = [b" %d" % (number % WHITE_REPEATS), b" %d" % number]
    return parts[0] + b"".join(names[place % 2] + part for place, part in enumerate(parts[1:]))


def measure(program: str, command: list[str], parts: list[bytes], repeats: int) -> tuple[float, float, int]:
    """Runs a command. Returns the elapsed seconds, the CPU seconds and the peak memory in bytes."""
    reel = Path(tempfile.mkdtemp()) / "growth.reel"
    command = [str(reel) if word == "REEL" else word for word in command]
    begun = time.monotonic()
    child = subprocess.Popen(
        [program, *command, "--quiet", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert child.stdin is not None
    try:
        with child.stdin as to:
            for number in range(repeats):
                to.write(repetition(parts, number))
    except BrokenPipeError:
        pass  # The program has printed why it stopped reading.
    _, status, usage = os.wait4(child.pid, 0)
    shutil.rmtree(reel.parent)
    if status != 0:
        sys.exit(f"{program} {' '.join(command)} ended with status {status}")
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "games/sample.pgn")
    parser.add_argument("--program", default=str(ROOT / "target/release/orbit"))
    parser.add_argument("--games", type=numbers, default=numbers("1e6,1e7,1e8"))
    parser.add_argument("--more", type=numbers, default=numbers("1e7"))
    args = parser.parse_args()
    parts, games = pieces(args.file)
    if not games:
        sys.exit(f"{args.file} has no game with a tag Event")
    print("| games | command | seconds | seconds of the processor | memory |")
    print("|---|---|---|---|---|")
    runs = [(number, COUNT) for number in args.games]
    runs += [(number, command) for number in args.more for command in MORE]
    for number, command in runs:
        repeats = max(1, round(number / games))
        seconds, processor, memory = measure(args.program, command, parts, repeats)
        words = " ".join(f"'{word}'" if " " in word else word for word in command)
        print(
            f"| {repeats * games:,} | `orbit {words}` | {seconds:.1f} | {processor:.1f} | {memory / 1e6:.0f} MB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
