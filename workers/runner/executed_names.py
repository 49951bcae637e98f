"""The worker's side of the function map: names for the numbers that a child sends.

A child can claim what it likes: names are held against the tree where they are used, and are only ever kept in bounds
here.
"""

from __future__ import annotations

from collections.abc import Callable

from workers.runner.child.events import Executed
from workers.runner.child.functions import NAME_CHARS
from workers.untrusted import storable

#: Gets a test id, empty for the collection of the file, and functions that it executed (`path:qualified.name`). It can
#: be called several times for one test.
OnExecuted = Callable[[str, frozenset[str]], None]
#: Names of one child; all of PyTorch has 60,000 functions.
_NAMES_CAP = 200_000


class ExecutedNames:
    """The names that one child after the other has told."""

    def __init__(self, on_executed: OnExecuted) -> None:
        self._on_executed = on_executed
        self._names: list[str] = []

    def forget(self) -> None:
        """A new child numbers anew."""
        self._names = []

    def receive(self, event: Executed) -> None:
        """Numbers without a name are dropped."""
        room = _NAMES_CAP - len(self._names)
        self._names += [storable(name)[:NAME_CHARS] for name in event.names[:room]]
        known = range(len(self._names))
        self._on_executed(event.id, frozenset(self._names[number] for number in event.numbers if number in known))
