"""A bell: tells whoever waits in this process that something was committed. Not a queue, it carries nothing.

A listener may carry its rings to another process. A ring that nobody hears costs a moment only: whoever waits looks by
itself, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Bell:
    """Counts its rings, so that one which came while nobody listened is heard by the next who asks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._rings = 0
        self._listeners: list[Callable[[], None]] = []

    def ring(self) -> None:
        """Wake everybody who waits."""
        with self._changed:
            self._rings += 1
            self._changed.notify_all()
        for listener in tuple(self._listeners):
            listener()

    @contextmanager
    def heard_by(self, listener: Callable[[], None]) -> Iterator[None]:
        """Have `listener` called at every ring, by whoever rings: it must neither block nor raise."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @property
    def rings(self) -> int:
        """How often it was rung so far."""
        with self._changed:
            return self._rings

    def wait(self, heard: int, timeout_s: float) -> None:
        """Wait for a ring after the `heard`th, at most `timeout_s` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._rings != heard, timeout_s)
