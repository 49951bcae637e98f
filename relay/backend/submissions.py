"""A dispatch of another relay becomes a delivery in our inbox: once, however often it is submitted.

Writes in the caller's session, opens no run by itself: `relay.intake` does, as for a webhook of GitHub.
"""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy.orm import Session

from relay.backend.envelope import Envelope
from relay.intake.deliveries import record_delivery
from relay.store.models import Delivery

#: Of the deliveries that came by another relay: GitHub's own ids must not meet theirs.
PREFIX = "dispatch:"


def record_submission(session: Session, envelope: Envelope, now: datetime) -> tuple[Delivery, bool]:
    """The delivery of a dispatch, and whether it had been there before.

    Raises:
        ConflictError: its id is known with another content.
    """
    # Sorted, so that the same dispatch is the same bytes whichever way it was submitted.
    body = json.dumps(envelope.payload, sort_keys=True, separators=(",", ":")).encode()
    return record_delivery(session, PREFIX + envelope.delivery_id, envelope.event_type, body, now)
