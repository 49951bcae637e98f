"""Letters that were settled long ago are forgotten, sent ones and dead ones alike. When that is: `relay.retention`.

A key is forgotten with its letter: deciding the same once more would send it once more. Nobody can by then: GitHub
repeats a webhook for three days, and a dispatch is answered for as long.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from relay.store.crcr_models import OutboxItem


def forget_letters(session: Session, before: datetime, *, limit: int) -> int:
    """Remove up to `limit` letters that were settled before that moment, the oldest first. How many went."""
    old = session.scalars(settled_before(before, limit)).all()
    if old:
        # Also here, for a person may have made one due again meanwhile.
        session.execute(delete(OutboxItem).where(OutboxItem.id.in_(old), OutboxItem.settled_at < before))
    return len(old)


def settled_before(before: datetime, limit: int) -> Select[int]:
    """The query that looks: in an index alone."""
    query = select(OutboxItem.id).where(OutboxItem.settled_at < before)
    return query.order_by(OutboxItem.settled_at, OutboxItem.id).limit(limit)
