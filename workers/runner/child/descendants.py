"""Ends what a child left behind: processes that forked twice and left its session, so that no group kill finds them.

Works in a process that keeps its orphans (`confinement.keep_orphans`) and has no other children than these.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PAUSE_S = 0.002


def end_descendants(seconds: float) -> bool:
    """Kill and reap all of them; False when some are still there after `seconds`.

    Goes generation by generation: the children of a killed process become ours.
    """
    deadline = time.monotonic() + seconds
    while _reap():
        for pid in _children(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_S)
    return True


def _reap() -> bool:
    """Collect the dead; whether anybody is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def is_crowded(limit: int) -> bool:
    """Whether the main thread of this process has more than `limit` children. Cheap; False where the kernel keeps no
    list of them."""
    try:
        return _listing(os.getpid()).read_bytes().count(b" ") > limit
    except OSError:
        return False


def _listing(process: int) -> Path:
    return Path(f"/proc/self/task/{process}/children")


def _children(parent: int) -> Iterator[int]:
    if (listing := _listing(parent)).exists():  # a kernel option
        yield from map(int, listing.read_text().split())
        return
    for folder in Path("/proc").iterdir():
        # Any process may be gone by now.
        with suppress(OSError):
            if folder.name.isdigit() and _parent(folder) == parent:
                yield int(folder.name)


def _parent(folder: Path) -> int:
    # The name of the program stands in parentheses and may hold any character.
    return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
