"""Lets readers of the same page share what was read for it: an event makes every open page ask again at once.

What is shared is never older than the newest event told and never older than a second, and never belongs to one
person. What no event tells of (letters, webhooks, the jobs of backends) is asked for now and then by every open page;
that is shared for the second alone. Not a cache for anything else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

_Value = TypeVar("_Value")

#: What changes without an event, a worker's progress for example, may be this late (seconds).
FRESH_S = 1.0
_KEPT = 32
_NO_EVENT = 0


@dataclass
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    value: Any = None
    version: int = -1
    at: float = 0.0

    def serves(self, version: int, now: float) -> bool:
        return self.version >= version and now - self.at < FRESH_S


class OwnReads:
    """Everybody reads for themselves: who opens a page, and who has just changed something, sees it as it is."""

    def get(self, _key: Hashable, read: Callable[[], _Value]) -> _Value:
        """What `read` gives."""
        return read()

    def recent(self, _key: Hashable, read: Callable[[], _Value]) -> _Value:
        """What `read` gives."""
        return read()


class SharedReads:
    """Values by key. `version` is the id of the newest event told, or None while nobody follows: then everybody reads
    for themselves. `clock` gives seconds."""

    def __init__(self, version: Callable[[], int | None], clock: Callable[[], float] = time.monotonic) -> None:
        self._version = version
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: dict[Hashable, _Entry] = {}

    def get(self, key: Hashable, read: Callable[[], _Value]) -> _Value:
        """What `read` gives, now or a moment ago. Of many who ask at once, one reads. Its errors are not kept."""
        if (version := self._version()) is None:
            return read()
        return self._shared(key, read, version)

    def recent(self, key: Hashable, read: Callable[[], _Value]) -> _Value:
        """The same for what is asked for again in any case, so that nothing is missed: only its age counts."""
        return self._shared(key, read, _NO_EVENT)

    def _shared(self, key: Hashable, read: Callable[[], _Value], version: int) -> _Value:
        entry = self._entry(key)
        with entry.lock:
            # Taken before reading: what was read knows at least the events up to here.
            if version != _NO_EVENT:
                version = max(version, self._version() or 0)
            now = self._clock()
            if not entry.serves(version, now):
                entry.value, entry.version, entry.at = read(), version, now
            value: _Value = entry.value
            return value

    def _entry(self, key: Hashable) -> _Entry:
        with self._lock:
            entry = self._entries.pop(key, None) or _Entry()
            self._entries[key] = entry  # the last one asked for is the last one forgotten
            while len(self._entries) > _KEPT:
                del self._entries[next(iter(self._entries))]
            return entry
