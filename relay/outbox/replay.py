"""Dead letters: a person sends one again. Owns nothing of why it died."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.outbox.bell import ring_after_commit
from relay.store.crcr_models import OutboxItem, OutboxState


def replay(session: Session, ids: Collection[int], now: datetime) -> Sequence[int]:
    """Make the dead ones among these rows due again, with all their attempts before them. Which ones that were."""
    dead = select(OutboxItem).where(OutboxItem.id.in_(ids), OutboxItem.state == OutboxState.DEAD)
    items = session.scalars(dead.order_by(OutboxItem.id).with_for_update()).all()
    for item in items:
        item.state, item.attempts = OutboxState.DUE, 0
        item.due_at = item.open_since = now
        item.settled_at = None
    if items:
        ring_after_commit(session)
    return [item.id for item in items]
