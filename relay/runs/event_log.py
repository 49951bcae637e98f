"""Writes lines of runs' histories to the log as well, once they are committed: what was rolled back never happened.

One place for the ids that a person looks for: the run, the shard, and what is bound around (delivery, request).
"""

from __future__ import annotations

from typing import Any

import structlog
from sqlalchemy import event
from sqlalchemy.orm import Session

from relay.printable import printable

_log = structlog.get_logger(__name__)

_WAITING = "run_event_log"
#: Steps of runs and shards are few; everything else comes many times for each.
_STEPS = ("run.", "shard.")


def log_after_commit(session: Session, kind: str, text: str, **ids: int) -> None:
    """Log a line of a history when this session commits; a rollback logs nothing. `ids` say what it is about."""
    # What is bound now may not be when the transaction ends.
    session.info.setdefault(_WAITING, []).append((kind, text, structlog.contextvars.get_contextvars() | ids))


# Of all sessions, once: listening to each anew takes longer than the line does.
@event.listens_for(Session, "after_commit")
def _write(session: Session) -> None:
    for kind, text, ids in _taken(session):
        write = _log.info if kind.startswith(_STEPS) else _log.debug
        write(kind, **ids, text=printable(text))


@event.listens_for(Session, "after_rollback")
def _forget(session: Session) -> None:
    _taken(session)


def _taken(session: Session) -> list[tuple[str, str, dict[str, Any]]]:
    waiting: list[tuple[str, str, dict[str, Any]]] = session.info.pop(_WAITING, [])
    return waiting
