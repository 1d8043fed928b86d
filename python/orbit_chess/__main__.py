"""The program `orbit`: `python -m orbit_chess scan mate games.pgn` does what `orbit scan mate games.pgn` does."""

from __future__ import annotations

import sys

from ._native import run_program

#: The command that starts this program. Generated scripts contain it.
PROGRAM = [sys.executable, "-m", "orbit_chess"]


def main() -> int:
    """Runs the program with the arguments of this process."""
    return run_program(PROGRAM, ["orbit", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
