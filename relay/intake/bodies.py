"""Bodies of webhooks: brought back by a repeat, removed when they are old. When: `relay.retention`.

The row stays with its digest, so that a repeat is still known as one, and what came of it stays told.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from relay.store.models import Delivery, DeliveryState


def remove_bodies(session: Session, before: datetime, now: datetime, *, limit: int) -> int:
    """Empty up to `limit` webhooks that arrived before that moment and were handled. How many."""
    old = session.scalars(bodies_before(before, limit)).all()
    if old:
        emptied = update(Delivery).where(Delivery.id.in_(old), Delivery.body_removed_at.is_(None))
        session.execute(emptied.values(payload=b"", body_removed_at=now))
    return len(old)


def bodies_before(before: datetime, limit: int) -> Select[int]:
    """The query that looks: in an index alone."""
    query = select(Delivery.id).where(
        Delivery.body_removed_at.is_(None), Delivery.received_at < before, Delivery.state != DeliveryState.RECEIVED
    )
    return query.order_by(Delivery.received_at, Delivery.id).limit(limit)


def bring_back(delivery: Delivery, body: bytes) -> None:
    """Keep the body of a repeat where the first one's was removed: what is asked for again may be sent again."""
    if delivery.body_removed_at is not None:
        delivery.payload, delivery.body_removed_at = body, None
