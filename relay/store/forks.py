"""What a child that was forked must not share with its parent: connections, whose answers would reach the wrong one of
them, and locks on files, which count as held by both. Knows nothing of databases."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something that holds what a child cannot use."""

    def start_anew(self) -> None:
        """Called in the child: forget what the parent has, without closing it, for the parent goes on with it."""
        ...


_KNOWN: weakref.WeakSet[Forkable] = weakref.WeakSet()


def start_anew_in_children(thing: Forkable) -> None:
    """Have it start anew in every child of this process, for as long as it lives."""
    _KNOWN.add(thing)


def _in_a_child() -> None:
    for thing in tuple(_KNOWN):
        thing.start_anew()


os.register_at_fork(after_in_child=_in_a_child)
