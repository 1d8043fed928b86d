#!/usr/bin/env python3
"""Times two builds of the program in one run and prints a Markdown table.

    tools/versions.py [--runs 7] [--repeat 16] OLD NEW FILE.pgn

OLD and NEW are programs `orbit` of two versions. The games of FILE.pgn are repeated --repeat times. The programs run each
command alternately. The table has the shortest elapsed time and the shortest CPU time of each, for the whole process. Both
programs read reels that OLD made. The exit code is 1 if the two programs print different results.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUERIES = Path(__file__).resolve().parent.parent / "benches/targets/queries.txt"
ON_PGN = ["true", "shift flip flipcolor {Nd4 kf3}", "check", "--(check)", "line --> check{2,}"]
ON_A_REEL = [
    "true",
    "shift flip flipcolor {Nd4 kf3}",
    "shift flip flipcolor {R[a-c1-2] not P[a-c2-3] k[g-h7-8]}",
    "shift flip flipcolor {Pa2 Pb3 Pc4 pa3 pb4 pc5 Ne1 ng8}",
    "flip {Kg1 Rf1 P[f2,g2,h2] Nf3 Bg2 pd5}",
    "N attacks k",
    "check",
    "mate",
    "stalemate",
    "#passedpawns >= 3",
    "Bh7 kg8",
    "flip {Rd8 kg8 Pf7}",
    "flipcolor {A==3 R==1 P==1 a==2 r==1}",
    "#[QqRrBbNn]==0",
    "flipcolor Q>1",
    "find check",
    "line --> check{2,}",
    "path -- check -- -- check",
]


def measured(command: list[str]) -> tuple[float, float, bytes]:
    """Returns a command's elapsed seconds, its CPU seconds, and the bytes that it printed."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with code {process.returncode}")
    return clock, used.ru_utime + used.ru_stime, out


def row(name: str, commands: list[list[str]], runs: int) -> bool:
    """Prints a command's table row for both versions. Returns True if both versions print the same."""
    clocks, processor, outputs = [[], []], [[], []], [b"", b""]
    for _ in range(runs):
        for version, command in enumerate(commands):
            clock, used, outputs[version] = measured(command)
            clocks[version].append(clock)
            processor[version].append(used)
    (old, new), (old_used, new_used) = map(min, clocks), map(min, processor)
    print(f"| {name} | {old:.3f} | {new:.3f} | {new / old:.2f} | {old_used:.3f} | {new_used:.3f} | {new_used / old_used:.2f} |")
    sys.stdout.flush()
    if outputs[0] != outputs[1]:
        print(f"{name}: {outputs[0]!r} and {outputs[1]!r} are printed", file=sys.stderr)
    return outputs[0] == outputs[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("pgn", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=16)
    args = parser.parse_args()
    programs = [str(args.old.resolve()), str(args.new.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        pgn, reel = f"{folder}/games.pgn", f"{folder}/games.reel"
        text = args.pgn.read_bytes()
        with open(pgn, "wb") as file:
            for _ in range(args.repeat):
                file.write(text.rstrip() + b"\n\n")
        rows = []
        for threads in ["1", "2"]:
            index = [[program, "index", "-q", "--threads", threads, "-o", f"{folder}/x.reel", pgn] for program in programs]
            rows.append((f"`orbit index`, threads: {threads}", index))
        scan = ["scan", "--engine", "cpu", "--count", "-q", "--no-reel", "--threads"]
        for query in ON_PGN:
            rows.append((f"PGN: `{query}`", [[program, *scan, "1", "-e", query, pgn] for program in programs]))
        for threads in ["1", "2"]:
            batch = ["scan", "--engine", "cpu", "-q", "--no-reel", "--threads", threads, "--queries", str(QUERIES), pgn]
            rows.append((f"PGN: fifty queries, threads: {threads}", [[program, *batch] for program in programs]))
        for query in ON_A_REEL:
            rows.append((f"reel: `{query}`", [[program, *scan, "1", "-e", query, reel] for program in programs]))
        query = "#passedpawns >= 3"
        rows.append((f"reel: `{query}`, threads: 2", [[program, *scan, "2", "-e", query, reel] for program in programs]))
        measured([programs[0], "index", "-q", "-o", reel, pgn])
        print("| command | old, clock | new | ratio | old, processor | new | ratio |")
        print("|---|---|---|---|---|---|---|")
        same = [row(name.replace("|", "\\|"), commands, args.runs) for name, commands in rows]
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
