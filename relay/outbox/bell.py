"""Rings when rows are put into the outbox and committed. One bell for the whole process, so that whoever puts a row in
needs to know no deliverer.
"""

from __future__ import annotations

from sqlalchemy import event
from sqlalchemy.orm import Session

from relay.bell import Bell

_LISTENING = "outbox_bell"

BELL = Bell()


def ring_after_commit(session: Session) -> None:
    """Ring when this session commits; a rollback rings nothing."""
    if _LISTENING not in session.info:
        session.info[_LISTENING] = True
        event.listen(session, "after_commit", _ring)


def _ring(_session: Session) -> None:
    BELL.ring()
