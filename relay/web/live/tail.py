"""The newest events, for those who follow and for those who come back: bounded, so a slow reader costs nothing.

Each reader has a place in it, not a copy of it. Who is too slow, or was away too long, is told that something is
missing. Not safe for threads by itself: `relay.web.live.events` holds the lock.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from relay.views import RunEvent


@dataclass(frozen=True, slots=True)
class Told:
    """An event with its JSON, made once for all readers. `mark` is the id under which a reader comes back after it:
    the event's own, or, for one that came out of order, that of the event before."""

    mark: int
    run_id: int
    event_id: int
    kind: str
    data: str


class Tail:
    """The last `size` events. Places count all events ever told, so that they stay true when old ones leave."""

    def __init__(self, size: int, known: Sequence[RunEvent], *, whole: bool) -> None:
        """`known` are the newest events; `whole`: there never were others."""
        self._events: deque[Told] = deque(maxlen=size)
        self._first = 0
        #: The largest id told, and the one after which everything is here.
        self.mark = self._floor = 0 if whole or not known else known[0].id
        for event in known:
            self.add(event)

    @property
    def end(self) -> int:
        """The place of the next event."""
        return self._first + len(self._events)

    def add(self, event: RunEvent) -> None:
        """Tell another one; the oldest leaves when there are too many."""
        self.mark = max(self.mark, event.id)
        if len(self._events) == self._events.maxlen:
            self._floor = self._events[0].mark
            self._first += 1
        self._events.append(Told(self.mark, event.run_id, event.id, event.kind, event.model_dump_json()))

    def after(self, event_id: int) -> int | None:
        """The place behind the event of this id, None when what followed it is not all here. Who knows of a later event
        than we do, from a page that was just made, begins at the end."""
        if event_id < self._floor:
            return None
        marks = [told.mark for told in self._events]
        at = bisect_left(marks, event_id)
        known = at < len(marks) and marks[at] == event_id
        return self._first + at + known

    def since(self, place: int) -> tuple[Told, ...] | None:
        """The events from a place on, None when some of them have left."""
        if place < self._first:
            return None
        return tuple(list(self._events)[place - self._first :])
