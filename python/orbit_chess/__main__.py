"""The program `orbit`: `python -m orbit_chess scan mate games.pgn` does what `orbit scan mate games.pgn` does."""

from __future__ import annotations

import sys

from ._native import run_program

#: The words that begin the program anew, in scripts that it writes.
PROGRAM = [sys.executable, "-m", "orbit_chess"]


def main() -> int:
    """Runs the program with the arguments of this process."""
    return run_program(PROGRAM, ["orbit", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
