"""The program `orbit` as a child process that ends when its parent ends: `python -m orbit_chess._child PID ARGUMENTS`.

A Ray actor may be killed at any moment. If its child process continued, the results would still be right, but the
process would compete for the processor or the card with the actor that computes the part again.
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
    """Runs the program. `sys.argv[1]` is the process id of the parent."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            return 1
    return run_program(PROGRAM, ["orbit", *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
