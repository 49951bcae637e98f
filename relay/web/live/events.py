"""The one reader of the record's events in a process, and those who follow it.

A thread reads while somebody follows, twice a second, and wakes the followers' event loops; followers never ask the
database. Knows neither HTTP nor pages.

Why PostgreSQL is asked and does not tell (`tests.benchmarks.bench_events`, two busy cores): an event takes 0.23 s to a
stream (99 of 100 come within 0.5 s), with NOTIFY 2 to 4 ms (0.02 s). Nobody sees that of a page, and asking costs the
server less than 1 % of a core, for 1 stream as for 200. But transactions that NOTIFY wait for each other at their
commit: eight writers committed 410 events a second instead of 950, and every report of a worker writes one.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from sqlalchemy.exc import SQLAlchemyError

from relay.runs.event_listing import events_since, newest_events
from relay.store.engine import Store
from relay.views import RunEvent
from relay.web.live.order import EventOrder
from relay.web.live.tail import Tail, Told

_log = structlog.get_logger(__name__)

_POLL_S = 0.5
#: The end of the reader is not waited for longer, should the record not answer.
_ENDS_WITHIN_S = 5.0
_BATCH = 500
#: Events kept for those who come back: some minutes of a busy service, about a megabyte.
KEPT = 2_000
#: Of these, read when the reader starts, so that pages that come back after a restart miss nothing.
_FROM_BEFORE = 500


@dataclass(frozen=True, slots=True)
class News:
    """What was told since the last time. `gap`: some of it is not kept any more; `mark` is the id to come back with."""

    mark: int
    told: tuple[Told, ...] = ()
    gap: bool = False


@dataclass(eq=False)
class Follower:
    """A place in the tail. Belongs to the event loop that made it."""

    _events: LiveEvents
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _place: int = 0

    async def begin(self, after: int | None = None) -> int:
        """Wait until the reader is ready and stand behind the event `after`, or at the end. The id to come back with.
        When not all that followed `after` is kept, the first news has a gap."""
        while (begun := self._events.locate(after)) is None:
            await self._wait()
        self._place, mark = begun
        return mark

    async def news(self) -> News:
        """Wait until something was told. Call `begin` first."""
        while True:
            self._place, news = self._events.look(self._place)
            if news.told or news.gap:
                return news
            await self._wait()

    async def _wait(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    def wake(self) -> None:
        """Called from the reader's thread."""
        try:
            self._loop.call_soon_threadsafe(self._changed.set)
        except RuntimeError:
            _log.debug("live_follower_gone")  # its loop was closed before it could leave


class LiveEvents:
    """Starts its reader with the first follower and lets it go with the last."""

    def __init__(self, store: Store, *, poll_s: float = _POLL_S, kept: int = KEPT) -> None:
        self._store = store
        self._poll_s = poll_s
        self._kept = kept
        self._lock = threading.Lock()
        self._followers: set[Follower] = set()
        self._left = threading.Event()
        self._thread: threading.Thread | None = None
        self._tail: Tail | None = None

    @contextmanager
    def following(self) -> Iterator[Follower]:
        """A follower for the running event loop, until the block ends."""
        follower = Follower(self)
        with self._lock:
            self._followers.add(follower)
            self._left.clear()
            if self._thread is None:
                self._thread = threading.Thread(target=self._read_on, name="live-events", daemon=True)
                self._thread.start()
        try:
            yield follower
        finally:
            with self._lock:
                self._followers.discard(follower)
                if not self._followers:
                    self._left.set()

    def close(self) -> None:
        """Let everybody go who still follows, and wait for the reader: it may be reading just now, on a connection that
        nobody closes once the record is let go of."""
        with self._lock:
            self._followers.clear()
            self._left.set()
            thread = self._thread
        if thread is not None:
            thread.join(_ENDS_WITHIN_S)

    @property
    def newest(self) -> int | None:
        """The id of the newest event told, None while nobody follows."""
        with self._lock:
            return None if self._tail is None else self._tail.mark

    def locate(self, after: int | None) -> tuple[int, int] | None:
        """The place behind an event, or behind all, and the id to come back with; None while the reader is not ready.
        A place before all others stands for a gap."""
        with self._lock:
            if self._tail is None:
                return None
            if after is None:
                return self._tail.end, self._tail.mark
            place = self._tail.after(after)
            return (-1 if place is None else place), after

    def look(self, place: int) -> tuple[int, News]:
        """What was told from a place on, and the place after it."""
        with self._lock:
            tail = self._tail
            if tail is None:
                return place, News(mark=0)  # between two readers: the next one wakes its followers
            told = tail.since(place) if place >= 0 else None
            return tail.end, News(tail.mark, told or (), gap=told is None)

    def _read_on(self) -> None:
        """The thread: read until nobody follows."""
        order: EventOrder | None = None
        while True:
            try:
                order = self._read(order)
            except SQLAlchemyError as error:  # the next look asks for the same and more: nothing is lost
                _log.warning("live_events_unread", fault=type(error).__name__)
            self._left.wait(self._poll_s)
            with self._lock:
                if not self._followers:
                    self._thread = self._tail = None
                    return

    def _read(self, order: EventOrder | None) -> EventOrder:
        """One look at the record, or several while there is more than one look holds."""
        if order is None:
            return self._first_look()
        while True:
            with self._store.reading() as session:
                events = events_since(session, order.seen, also=order.missing, limit=_BATCH)
            ready = order.take(events, time.monotonic())
            if ready:
                self._tell(ready)
            if len(events) < _BATCH:
                return order

    def _first_look(self) -> EventOrder:
        with self._store.reading() as session:
            known = newest_events(session, limit=_FROM_BEFORE)
        tail = Tail(self._kept, known, whole=len(known) < _FROM_BEFORE)
        with self._lock:
            self._tail = tail
        self._wake()
        return EventOrder(known, time.monotonic())

    def _tell(self, events: Sequence[RunEvent]) -> None:
        with self._lock:
            for event in events:
                if self._tail is not None:
                    self._tail.add(event)
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            followers = tuple(self._followers)
        for follower in followers:
            follower.wake()
