"""`python -I -S relay/machine/launch.py --parent PID COMMAND...`: become COMMAND, and die when the parent does.

A child that sets this up between fork and exec would run Python in a forked copy of a threaded process; a small program
of its own may do so safely. Linux only, elsewhere the command simply runs. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # prctl(2)


def die_with_parent(parent_pid: int) -> None:
    """Ask the kernel to kill this process when its parent thread ends. The setting outlives exec.

    Raises SystemExit when the parent is gone already, so that no child is left over from a race.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent_pid:
        raise SystemExit(1)


def main(arguments: list[str]) -> None:
    """Set up, then exec: the process id stays the one the parent knows."""
    _, parent, *command = arguments
    die_with_parent(int(parent))
    os.execvp(command[0], command)  # noqa: S606 - replaces this process, no shell on purpose


if __name__ == "__main__":
    main(sys.argv[1:])
