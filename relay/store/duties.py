"""Of several processes one does what must be done once for all. A duty is a lease in the record: who dies loses it when
its time is over, who ends well gives it back.

What is done under it must still be safe twice: a process that was stopped for longer than its lease does not know.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import or_, select, update

from relay.store.duty_models import Duty
from relay.store.engine import Store
from relay.store.upsert import insert_into

#: Names this process for people, and tells it from others of its name.
PROCESS = f"{socket.gethostname()[:80]}:{os.getpid()}:{secrets.token_hex(4)}"


class DutyLease:
    """One duty, as this process may have it."""

    def __init__(
        self, store: Store, name: str, *, lasts_s: float, now: Callable[[], datetime], holder: str = PROCESS
    ) -> None:
        """`lasts_s`: how long it stays with a process that is not heard of any more."""
        self._store = store
        self._name = name
        self._lasts = timedelta(seconds=lasts_s)
        self._now = now
        self._holder = holder
        self._ours = (Duty.name == name, Duty.holder == holder)

    def hold(self) -> bool:
        """Take it, or keep it for longer. False when it is another's."""
        with self._store.reading() as session:
            found = session.get(Duty, self._name)
            # After the first use of the record, which a process that has just started has its clock from.
            now = self._now()
        if (
            found is not None
            and found.until >= now
            and (found.holder != self._holder or found.until - now > self._lasts / 2)
        ):
            return found.holder == self._holder  # nothing to write
        return self._take(now)

    def done(self) -> None:
        """Note that it was done just now, and keep it."""
        now = self._now()
        with self._store.writing() as session:
            session.execute(update(Duty).where(*self._ours).values(done_at=now, until=now + self._lasts))

    def _take(self, now: datetime) -> bool:
        ours = {"holder": self._holder, "until": now + self._lasts}
        free = (Duty.name == self._name, or_(Duty.holder == self._holder, Duty.until < now))
        with self._store.writing() as session:
            if session.scalars(update(Duty).where(*free).values(ours).returning(Duty.name)).all():
                return True
            first = (
                insert_into(session, Duty).values(name=self._name, **ours).on_conflict_do_nothing().returning(Duty.name)
            )
            return bool(session.scalars(first).all())

    def release(self) -> None:
        """Let the next one have it at once."""
        with self._store.writing() as session:
            session.execute(update(Duty).where(*self._ours).values(until=self._now() - timedelta(microseconds=1)))


def last_done(store: Store, name: str) -> datetime | None:
    """When a duty was last done, by whichever process. None when it never was."""
    with store.reading() as session:
        return session.scalar(select(Duty.done_at).where(Duty.name == name))
