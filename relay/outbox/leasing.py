"""Who sends a row, until when, and what its state is afterwards. Every change is bound to the lease that allows it.

Of several processes one gets a row; a process that dies loses it when its lease ends. Works inside the caller's writing
sessions and sends nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, and_, or_, select, update
from sqlalchemy.orm import Session, aliased

from relay.outbox.retrying import Luck, RetryTerms, luck
from relay.outbox.types import Ending, Letter, Postponed, Sent, Undeliverable
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState

OPEN_STATES = (OutboxState.DUE, OutboxState.SENDING)

_EARLIER = aliased(OutboxItem)
#: No earlier row of its lane is open. Made once: making it costs more than running it.
_FREE = ~(
    select(_EARLIER.id)
    .where(_EARLIER.lane == OutboxItem.lane, _EARLIER.id < OutboxItem.id, _EARLIER.state.in_(OPEN_STATES))
    .exists()
)
#: What a letter is made of, in its order.
_TOLD = (
    *(OutboxItem.id, OutboxItem.kind, OutboxItem.key, OutboxItem.target, OutboxItem.attempts, OutboxItem.body),
    *(OutboxItem.dispatch_id, OutboxItem.job_id),
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A letter that is ours to send while its lease lasts."""

    letter: Letter
    lease_id: str


def due_ids(session: Session, kinds: Collection[OutboxKind], now: datetime, limit: int) -> Sequence[int]:
    """Rows that could be claimed now, the longest due first. Reads only: nothing due costs nobody a lock."""
    query = select(OutboxItem.id).where(OutboxItem.kind.in_(kinds), _ready(now), _FREE)
    return session.scalars(query.order_by(OutboxItem.due_at, OutboxItem.id).limit(limit)).all()


def claim(
    session: Session, ids: Collection[int], now: datetime, lease_s: float, *, early: bool = False
) -> list[Claimed]:
    """Those of these rows that nobody else holds and that no earlier row of their lane holds up, now leased to us.
    `early`: also those whose time has not come."""
    lease_id = secrets.token_urlsafe(24)
    taken = (
        update(OutboxItem)
        .where(OutboxItem.id.in_(_claimable(ids, now, early=early)))
        .values(
            state=OutboxState.SENDING,
            attempts=OutboxItem.attempts + 1,
            lease_id=lease_id,
            lease_expires_at=now + timedelta(seconds=lease_s),
        )
        .returning(*_TOLD)
        # Nobody has these rows in this session, so none is to be brought up to date.
        .execution_options(synchronize_session=False)
    )
    return [Claimed(Letter(*row), lease_id) for row in sorted(session.execute(taken), key=lambda row: row.id)]


def renew(session: Session, claimed: Collection[Claimed], now: datetime, lease_s: float) -> None:
    """Prolong the leases of letters that are still being sent."""
    leases = {one.lease_id for one in claimed}
    ids = [one.letter.id for one in claimed]
    ours = (OutboxItem.id.in_(ids), OutboxItem.lease_id.in_(leases), OutboxItem.state == OutboxState.SENDING)
    session.execute(update(OutboxItem).where(*ours).values(lease_expires_at=now + timedelta(seconds=lease_s)))


def held(session: Session, claimed: Collection[Claimed]) -> dict[int, OutboxItem]:
    """The rows of these letters by id, locked, without those whose lease was lost to somebody else."""
    leases = {one.letter.id: one.lease_id for one in claimed}
    query = select(OutboxItem).where(OutboxItem.id.in_(leases), OutboxItem.state == OutboxState.SENDING)
    # In one order for all, so that two who settle never wait for each other.
    locked = query.order_by(OutboxItem.id).with_for_update().execution_options(populate_existing=True)
    return {item.id: item for item in session.scalars(locked) if item.lease_id == leases[item.id]}


def final(item: OutboxItem, ending: Ending, terms: RetryTerms, now: datetime) -> Ending:
    """The same ending, but for a letter that was postponed once too often."""
    if isinstance(ending, Postponed) and terms.given_up(item.attempts, item.open_since, now):
        return Undeliverable(f"given up at attempt {item.attempts}: {ending.reason}", ending.status)
    return ending


def conclude(item: OutboxItem, ending: Ending, terms: RetryTerms, now: datetime, lucky: Luck = luck) -> None:
    """Write an ending into the row and end the lease."""
    item.lease_id = item.lease_expires_at = None
    match ending:
        case Sent():
            item.state, item.settled_at = OutboxState.SENT, now
            item.last_status, item.last_error = None, ""
        case Postponed(reason, status, after_s):
            item.state, item.last_status, item.last_error = OutboxState.DUE, status, reason
            item.due_at = now + timedelta(seconds=terms.pause_s(item.attempts, after_s, lucky))
        case Undeliverable(reason, status):
            item.state, item.settled_at = OutboxState.DEAD, now
            item.last_status, item.last_error = status, reason


def _ready(now: datetime, *, early: bool = False) -> ColumnElement[bool]:
    waiting = OutboxItem.state == OutboxState.DUE
    abandoned = and_(OutboxItem.state == OutboxState.SENDING, OutboxItem.lease_expires_at < now)
    return or_(waiting if early else and_(waiting, OutboxItem.due_at <= now), abandoned)


def _claimable(ids: Collection[int], now: datetime, *, early: bool) -> Select[int]:
    # A row that another process is claiming this moment is skipped, not waited for. A row that it claimed just before
    # fails the condition, which PostgreSQL looks at again once it has the lock; SQLite has one writer at a time.
    query = select(OutboxItem.id).where(OutboxItem.id.in_(ids), _ready(now, early=early), _FREE)
    return query.order_by(OutboxItem.id).with_for_update(skip_locked=True, of=OutboxItem)
