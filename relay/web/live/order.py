"""Brings events into the order of their ids, although a later id may become visible before an earlier one.

Ids are drawn when an event is written and seen when its transaction ends, so on PostgreSQL event 9 can appear after
event 10. Whoever remembered "I have all up to 10" would miss it. Pure: no clock, no database; moments are `monotonic`
seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.views import RunEvent

#: How long (seconds) a missing id holds up those after it. Transactions take milliseconds; a rolled back one leaves a
#: hole for ever.
HOLE_S = 3.0
#: How long (seconds) an id that was given up is still asked for.
LATE_S = 60.0
#: A wider hole is a jump of the sequence, as after a crash of the server, and nothing to wait for.
WIDEST = 1_000


class EventOrder:
    """What was handed on, and what waits for an earlier id. `told`: everything up to this id was handed on or given
    up."""

    def __init__(self, known: Sequence[RunEvent], now: float) -> None:
        """`known`: the newest events, in the order of their ids. They count as handed on; ids that are missing among
        them are asked for, as their transactions may be about to end."""
        ids = [event.id for event in known]
        self.told = ids[-1] if ids else 0
        self._held: dict[int, RunEvent] = {}
        # Since when an id is missed, and since when one is that was given up.
        self._holes: dict[int, float] = {}
        self._late = dict.fromkeys(_between(ids), now)

    @property
    def seen(self) -> int:
        """The largest id seen so far."""
        return max(self._held, default=self.told)

    @property
    def missing(self) -> tuple[int, ...]:
        """Smaller ids that may yet appear."""
        return (*self._late, *self._holes)

    def take(self, events: Sequence[RunEvent], now: float) -> list[RunEvent]:
        """Take in newly read events; what can be handed on, in order. An event that was given up comes out of it."""
        late = [event for event in events if self._late.pop(event.id, None) is not None]
        self._hold([event for event in events if event.id > self.told], now)
        self._late = {id_: since for id_, since in self._late.items() if now - since < LATE_S}
        return [*late, *self._release(now)]

    def _hold(self, events: Sequence[RunEvent], now: float) -> None:
        before = self.seen
        self._held |= {event.id: event for event in events}
        fresh = [id_ for id_ in _between([before, *sorted(self._held)]) if id_ > before]
        self._holes = {id_: since for id_, since in self._holes.items() if id_ not in self._held}
        self._holes |= dict.fromkeys(fresh, now)

    def _release(self, now: float) -> list[RunEvent]:
        ready = []
        for id_ in sorted((*self._held, *self._holes)):
            if id_ in self._held:
                ready.append(self._held.pop(id_))
            elif now - self._holes[id_] < HOLE_S:
                break
            else:
                del self._holes[id_]
                self._late[id_] = now
            self.told = id_
        return ready


def _between(ids: Sequence[int]) -> list[int]:
    """The ids missing among ascending ones, only the largest of very many."""
    if not ids:
        return []
    first = max(ids[0], ids[-1] - WIDEST)
    return sorted(set(range(first, ids[-1])).difference(ids))
