"""The end of what a process prints: read as it comes, kept in bounds."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Sequence

_CHUNK = 1 << 18
#: What is still read after the exit; a stray process may go on writing.
_DRAIN_CAP = 4 << 20


class OutputTail:
    """The reading end of an output pipe, and the last `cap` bytes that came through it."""

    def __init__(self, pipe: int, cap: int) -> None:
        self._pipe, self._cap = pipe, cap
        self._open = True
        self._tail = bytearray()

    def wait(self, others: Sequence[int | socket.socket], seconds: float) -> list[int | socket.socket]:
        """Wait until one of `others` can be read; those that can. Output that comes is taken in on the way."""
        own = [self._pipe] if self._open else []
        ready, _, _ = select.select([*others, *own], [], [], seconds)
        if own and self._pipe in ready:
            ready.remove(self._pipe)
            self._take()
        return ready

    def drain(self) -> None:
        """Take in what is there."""
        taken = 0
        while self._open and taken < _DRAIN_CAP and select.select([self._pipe], [], [], 0)[0]:
            taken += self._take()

    def after(self, mark: str) -> str:
        """The kept end, from the last occurrence of `mark` on where there is one."""
        return self._tail.decode(errors="replace").rpartition(mark)[2]

    def between(self, mark: str, next_mark: str) -> str:
        """What is kept from the last occurrence of `mark` to the next one of `next_mark`, or to the end; nothing when
        `mark` is not kept any more."""
        _, found, rest = self._tail.decode(errors="replace").rpartition(mark)
        return rest.partition(next_mark)[0] if found else ""

    def close(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe, self._open = -1, False

    def _take(self) -> int:
        data = os.read(self._pipe, _CHUNK)
        self._open = bool(data)
        self._tail += data
        del self._tail[: -self._cap]
        return len(data)
