"""The program `orbit` as a process that ends with the one that began it: `python -m orbit_chess._child PID ARGUMENTS`.

An actor of Ray may be killed at any moment. A part that its child went on with would do no harm, but take the processor, or the
card, from whoever computes the part anew.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from .__main__ import PROGRAM
from ._native import run_program

PR_SET_PDEATHSIG = 1


def main() -> int:
    """Runs the program; `sys.argv[1]` is the number of the process that began it."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            return 1
    return run_program(PROGRAM, ["orbit", *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
