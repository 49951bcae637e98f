"""Ends what a child left behind: descendants that forked twice and left its session, so that no group kill finds them.

They are known by the cookie in their environment, which a fork takes along. A process that empties its environment
and executes a new program escapes; only a PID namespace would hold it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from workers.runner.environment import COOKIE

_ROUNDS = 5


def end_strays(cookie: str) -> None:
    """Kill every process that carries `cookie`. Repeats, because a process may fork between the look and the kill."""
    for _ in range(_ROUNDS):
        found = list(_carriers(f"{COOKIE}={cookie}".encode()))
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _carriers(entry: bytes) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        # Processes of other users cannot be read, and any process may be gone by now.
        with suppress(OSError):
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
