"""Tells the deliverers of this process that something was committed. A bell, not a queue: it carries no rows.

One for the whole process, so that whoever puts a row in needs to know no deliverer. A ring that nobody hears costs a
moment only: deliverers look by themselves, too.
"""

from __future__ import annotations

import threading

from sqlalchemy import event
from sqlalchemy.orm import Session

_LISTENING = "outbox_bell"


class Bell:
    """Counts its rings, so that one which came while nobody listened is heard by the next who asks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._rings = 0

    def ring(self) -> None:
        """Wake everybody who waits."""
        with self._changed:
            self._rings += 1
            self._changed.notify_all()

    @property
    def rings(self) -> int:
        """How often it was rung so far."""
        with self._changed:
            return self._rings

    def wait(self, heard: int, timeout_s: float) -> None:
        """Wait for a ring after the `heard`th, at most `timeout_s` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._rings != heard, timeout_s)


BELL = Bell()


def ring_after_commit(session: Session) -> None:
    """Ring when this session commits; a rollback rings nothing."""
    if _LISTENING not in session.info:
        session.info[_LISTENING] = True
        event.listen(session, "after_commit", _ring)


def _ring(_session: Session) -> None:
    BELL.ring()
