"""The one clock of all processes that share a record. Leases, due times and duties are moments that one process writes
and others compare with theirs: of two machines whose clocks differ by more than a lease, each would take over what the
other is at work on.

With a database server it is the server's clock, asked for now and then by whoever has a connection in hand, and carried
on from there by a clock that nobody sets. SQLite is on one machine, which has a clock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import Engine, event
from sqlalchemy.exc import SQLAlchemyError

_log = structlog.get_logger(__name__)

#: Two clocks of computers part by milliseconds in this time.
_EVERY_S = 10.0
#: Worth a line: somebody may look for the moment in another log.
_TOLD_S = 5.0


def utc_now() -> datetime:
    """The clock of this machine."""
    return datetime.now(UTC)


def record_clock(engine: Engine, *, ask: bool) -> Callable[[], datetime]:
    """The clock to write into this record and to compare with it. `ask`: nobody is about to connect, and what is
    written with the first connection must have the moment already."""
    if engine.dialect.name != "postgresql":
        return utc_now
    clock = ServerClock(engine)
    if ask:
        clock.ask()
    return clock


class ServerClock:
    """The clock of the engine's server. The machine's own until a connection has been used, and from then on whatever
    happens to the server: a clock may not fail."""

    def __init__(
        self, engine: Engine, *, own: Callable[[], datetime] = utc_now, steady: Callable[[], float] | None = None
    ) -> None:
        self._engine = engine
        self._own = own
        # Goes on while the machine sleeps, as leases do.
        self._steady = steady or (lambda: time.clock_gettime(time.CLOCK_BOOTTIME))
        #: The server's moment, and the steady clock's at the same time.
        self._known: tuple[datetime, float] | None = None
        self._asking = threading.Lock()
        event.listen(engine, "checkout", self._checked_out)

    def __call__(self) -> datetime:
        known = self._known
        if known is None:
            return self._own()
        moment, read = known
        return moment + timedelta(seconds=self._steady() - read)

    def ask(self) -> None:
        """Ask by a connection taken for that alone. A server that is away is asked by the first who reaches it: a
        service may start before its database does."""
        try:
            with self._engine.connect():
                pass
        except SQLAlchemyError as fault:
            _log.warning("clock_not_asked", fault=type(fault).__name__)

    def _checked_out(self, connection: Any, _record: object, _proxy: object) -> None:
        """Ask on a connection that somebody needs for something else: that costs no other one, and hardly a wait."""
        known = self._known
        if known is not None and self._steady() - known[1] < _EVERY_S:
            return
        if self._asking.acquire(blocking=False):
            try:
                self._ask(connection)
            except connection.Error as fault:
                # Who has the connection finds out what is wrong with it.
                _log.debug("clock_not_asked", fault=type(fault).__name__)
            finally:
                self._asking.release()

    def _ask(self, connection: Any) -> None:
        before = self._steady()
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            (moment,) = cursor.fetchone()
        connection.rollback()
        after = self._steady()
        first = self._known is None
        self._known = (moment.astimezone(UTC), (before + after) / 2)
        apart_s = (self() - self._own()).total_seconds()
        if first and abs(apart_s) > _TOLD_S:
            _log.warning("clock_differs", ahead_of_this_machine_s=round(apart_s, 1))
