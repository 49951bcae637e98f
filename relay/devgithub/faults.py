"""Faults on demand: the next calls that match are answered wrongly, late, or not at all.

A fault stands in front of every route. One with `performed` lets GitHub do what was asked and spoils only the answer:
the case where a client cannot know whether its request was carried out.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass
class Fault:
    """What goes wrong with the next `times` calls whose method and path match (`*` also matches slashes).

    `status` and `headers` make the answer; `hang_s` holds it back for so many seconds or until the caller has gone;
    `drop` cuts the connection in the middle of it.
    """

    method: str = "*"
    path: str = "*"
    times: int = 1
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)
    hang_s: float = 0.0
    drop: bool = False
    performed: bool = False

    def matches(self, method: str, path: str) -> bool:
        """Whether it stands in the way of this call."""
        return self.times > 0 and fnmatchcase(method, self.method) and fnmatchcase(path, self.path)


class Faults:
    """The faults that are still to come, the oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Let it happen."""
        with self._lock:
            self._waiting.append(fault)
        return fault

    def clear(self) -> None:
        """Let none happen any more."""
        with self._lock:
            self._waiting.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The fault of this call, which is one of its times."""
        with self._lock:
            for fault in self._waiting:
                if fault.matches(method, path):
                    fault.times -= 1
                    return fault
        return None

    @property
    def left(self) -> int:
        """How many calls are still to go wrong."""
        with self._lock:
            return sum(fault.times for fault in self._waiting)
