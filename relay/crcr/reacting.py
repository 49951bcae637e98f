"""What is decided about a webhook, in one transaction with keeping it. Nothing is sent from here."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist
from relay.crcr.asked import Asked, Incoming, asked_by
from relay.crcr.dispatch_plan import plan_dispatches, told
from relay.crcr.labels import handle_label
from relay.outbox.leasing import OPEN_STATES
from relay.outbox.queue import bounded, enqueue
from relay.settings import RelaySettings
from relay.store.crcr_models import OutboxItem, OutboxKind


def react(
    session: Session, settings: RelaySettings, incoming: Incoming, allowlist: Allowlist, now: datetime
) -> dict[str, Any]:
    """Decide about a new delivery; the answer to it."""
    asked, _ = asked_by(settings, incoming)
    if asked is Asked.LABEL:
        return handle_label(session, settings, allowlist, incoming.payload, now)
    if asked is Asked.DISPATCH:
        return told(plan_dispatches(session, settings, incoming, allowlist, now))
    return {"ignored": True}


def react_later(session: Session, incoming: Incoming, now: datetime) -> None:
    """Decide about it when there is an allowlist."""
    key = _plan_key(incoming)
    enqueue(session, kind=OutboxKind.PLAN, key=key, lane=key, target=incoming.delivery_id, body={}, now=now)


def is_undecided(session: Session, incoming: Incoming) -> bool:
    """Whether it still waits for an allowlist."""
    open_plan = (OutboxItem.key == bounded(_plan_key(incoming)), OutboxItem.state.in_(OPEN_STATES))
    return session.scalar(select(OutboxItem.id).where(*open_plan)) is not None


def _plan_key(incoming: Incoming) -> str:
    return f"plan/{incoming.delivery_id}"
