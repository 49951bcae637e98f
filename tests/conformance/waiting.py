"""What waits in the outbox, or did."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.store.crcr_models import OutboxItem, OutboxKind


def letters(session: Session, kind: OutboxKind) -> Sequence[OutboxItem]:
    """The rows of a kind, oldest first."""
    return session.scalars(select(OutboxItem).where(OutboxItem.kind == kind).order_by(OutboxItem.id)).all()
