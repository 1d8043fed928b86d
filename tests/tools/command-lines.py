#!/usr/bin/env python3
"""Shows the command lines of tests/data/command-lines.tsv to which two versions of the program respond differently.

    tests/tools/command-lines.py OLD NEW [TEXT]

OLD and NEW are two versions of the program `orbit`. The lines that contain TEXT are run with both, each in its own folder, on the
inputs that tests/cli/command_lines.rs creates. If exit codes, outputs, messages or files differ, the line is printed with the
differences. The exit code is then 1.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GAMES = 300
TIMED = re.compile("positions/s|positions_per_second| s,| s \\(")


def make_inputs(program: Path, folder: Path) -> None:
    data = ROOT / "tests/data"
    shutil.copytree(data / "command-lines", folder)
    games = (ROOT / "games/sample.pgn").read_text().split("\n\n[Event ")[:GAMES]
    (folder / "sample.pgn").write_text("\n\n[Event ".join(games) + "\n\n")
    trees = "\n".join((data / f"games/{name}.pgn").read_text() for name in ("vars", "comm", "awards"))
    (folder / "trees.pgn").write_text(trees)
    subprocess.run(["zip", "-qj", folder / "archive.zip", folder / "trees.pgn"], check=False)
    for name in ("main.pgn", "measures.pgn"):
        shutil.copy(data / "games" / name, folder)
    (folder / "reels").mkdir()
    for name, index in (
        ("sample.pgn", ["-o", "reels/sample.reel"]),
        ("trees.pgn", ["--variations", "-o", "reels/trees.reel"]),
        ("sample.pgn", ["--shards", "64K", "-o", "shards/"]),
    ):
        with open(folder / name, "rb") as games:
            subprocess.run([program, "index", "-q", "-", *index], cwd=folder, stdin=games, check=True)


def seen(program: Path, inputs: Path, line: str) -> list[str]:
    with tempfile.TemporaryDirectory() as bin_folder, tempfile.TemporaryDirectory() as folder:
        os.symlink(program, f"{bin_folder}/orbit")
        os.symlink(inputs, f"{folder}/in")
        environment = os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}", "XDG_CACHE_HOME": f"{folder}/cache", "LC_ALL": "C"}
        for name in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
            environment.pop(name, None)
        done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
        out = [f"exit code {done.returncode}", *done.stdout.decode(errors="replace").splitlines(), "== messages"]
        out += [text for text in done.stderr.decode(errors="replace").splitlines() if not TIMED.search(text)]
        for path in sorted(Path(folder).rglob("*")):
            name = path.relative_to(folder)
            if path.is_file() and name.parts[0] not in ("in", "cache"):
                lines = [] if path.suffix == ".reel" else path.read_bytes().decode(errors="replace").splitlines()
                out += [f"== {name}", *lines]
        return [text.replace(folder, "HERE") for text in out]


def main() -> None:
    programs = [Path(argument).resolve() for argument in sys.argv[1:3]]
    text = sys.argv[3] if len(sys.argv) > 3 else ""
    rows = (ROOT / "tests/data/command-lines.tsv").read_text().splitlines()
    lines = [row.split("\t", 1)[1] for row in rows if "\t" in row and text in row]
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "in"
        make_inputs(programs[0], inputs)
        for line in lines:
            old, new = (seen(program, inputs, line) for program in programs)
            if old != new:
                differ += 1
                print(f"$ {line}")
                print("\n".join(list(difflib.unified_diff(old, new, "old", "new", n=0, lineterm=""))[2:42]))
    print(f"{differ} of {len(lines)} lines differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
