"""Putting rows into the outbox, in the transaction that decided them.

Owns what makes two decisions one (the key), and that a committed row wakes the deliverers of this process by itself.
Sends nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from relay.outbox.bell import ring_after_commit
from relay.store.crcr_models import KEY_CAP, OutboxItem, OutboxKind, OutboxState
from relay.store.upsert import insert_into


@dataclass(frozen=True, slots=True)
class NewItem:
    """A row to be sent. Rows of one `lane` leave in the order in which they were put in; `key` names this very
    decision: putting it in again, in whatever state the first one is, does nothing."""

    kind: OutboxKind
    key: str
    lane: str
    target: str
    body: Mapping[str, Any] = field(repr=False)
    dispatch_id: int | None = None
    job_id: int | None = None


def enqueue(
    session: Session,
    *,
    kind: OutboxKind,
    key: str,
    lane: str,
    target: str,
    body: Mapping[str, Any],
    now: datetime,
    dispatch_id: int | None = None,
    job_id: int | None = None,
) -> bool:
    """Put one row in. False when its key is known, whatever became of that row."""
    item = NewItem(kind, key, lane, target, body, dispatch_id, job_id)
    return bool(enqueue_all(session, [item], now))


def enqueue_all(
    session: Session, items: Sequence[NewItem], now: datetime, *, due_at: datetime | None = None
) -> tuple[int, ...]:
    """Put rows in, in this order, due at once unless `due_at` says when; the ids of those whose key was not known."""
    if not items:
        return ()
    # Nothing is looked up before: of two who decide the same at once, the database lets one through.
    statement = insert_into(session, OutboxItem).on_conflict_do_nothing(index_elements=["key"]).returning(OutboxItem.id)
    # Past the session: nobody has these rows in it, and telling so takes a quarter of the time.
    rows = [_values(item, now, due_at or now) for item in items]
    ids = session.connection().execute(statement, rows).scalars().all()
    if ids:
        ring_after_commit(session)
    return tuple(ids)


def bounded(text: str) -> str:
    """A key or a lane as it is stored: its digest, when it is longer than the column."""
    return text if len(text) <= KEY_CAP else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _values(item: NewItem, now: datetime, due_at: datetime) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "key": bounded(item.key),
        "lane": bounded(item.lane),
        "target": item.target,
        "body": dict(item.body),
        "state": OutboxState.DUE,
        "attempts": 0,
        "due_at": due_at,
        "last_error": "",
        "created_at": now,
        "open_since": due_at,
        "dispatch_id": item.dispatch_id,
        "job_id": item.job_id,
    }
