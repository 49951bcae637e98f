"""One byte that the Celery main process sets and its pool processes read: stop at the next test boundary.

Celery's warm shutdown waits for running tasks and tells them nothing. Shared memory rather than a lock-based event: a
pool process killed while it holds a lock would hang the main process.
"""

from __future__ import annotations

import mmap


class ShutdownFlag:
    """Shared between a process and those it forks after creating the flag."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def set(self) -> None:
        self._memory[0] = 1

    def is_set(self) -> bool:
        return self._memory[0] != 0
