"""What readers get of the inbox: shared by the API and the pages. Knows no database.

Payloads stay inside: a note says what came of one. A note may quote what was sent: untrusted text.
"""

from __future__ import annotations

from datetime import datetime

from relay.outbox.views import DispatchView
from relay.store.models import DeliveryState
from relay.views import View


class DeliveryView(View):
    """One webhook delivery, or a dispatch that was handed over. `delivery_id` is the sender's name of it."""

    id: int
    delivery_id: str
    event: str
    state: DeliveryState
    received_at: datetime
    note: str
    run_id: int | None


class DeliveryPage(View):
    """The newest first. `counts` are of all that ever came, by state, whatever the page holds."""

    deliveries: tuple[DeliveryView, ...]
    next_before: int | None
    counts: dict[DeliveryState, int]


class DeliveryDetail(View):
    """One delivery, how large it was, and which backends it was to be told to."""

    delivery: DeliveryView
    bytes: int
    body_sha256: str
    dispatches: tuple[DispatchView, ...]
