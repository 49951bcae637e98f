"""What readers get of the inbox: shared by the API and the pages. Knows no database.

Payloads stay inside: a note says what came of one. A note may quote what was sent: untrusted text.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict, JsonValue

from relay.outbox.views import DispatchView
from relay.store.models import DeliveryState
from relay.views import Page, View

_DELIVERY: dict[str, JsonValue] = {
    "id": 41,
    "delivery_id": "6a1f0c2e-7d1b-11f0-8c3a-5b8e4f1a2b3c",
    "event": "pull_request",
    "state": "processed",
    "received_at": "2026-11-02T11:00:00Z",
    "note": "",
    "run_id": 12,
}
_TOLD: dict[str, JsonValue] = {
    "delivery_id": "6a1f0c2e-7d1b-11f0-8c3a-5b8e4f1a2b3c",
    "repo": "acme/torch-acme",
    "level": "L2",
    "event": "pull_request",
    "pr_number": 7,
    "head_sha": "1f" * 20,
    "state": "dispatched",
    "reason": "",
}
_PAGE: dict[str, JsonValue] = {
    "deliveries": [_DELIVERY],
    "next_before": 41,
    "counts": {"processed": 1},
    "next": "/api/v1/inbox?limit=1&cursor=WzQxXQ",
}
_DETAIL: dict[str, JsonValue] = {
    "delivery": _DELIVERY,
    "bytes": 20_480,
    "body_removed_at": None,
    "body_sha256": "e3b0c442" * 8,
    "dispatches": [_TOLD],
}


class DeliveryView(View):
    """One webhook delivery, or a dispatch that was handed over. `delivery_id` is the sender's name of it."""

    id: int
    delivery_id: str
    event: str
    state: DeliveryState
    received_at: datetime
    note: str
    run_id: int | None


class DeliveryPage(Page):
    """The newest first. `counts` are of all that ever came, by state, whatever the page holds."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_PAGE]})

    deliveries: tuple[DeliveryView, ...]
    next_before: int | None
    counts: dict[DeliveryState, int]


class DeliveryDetail(View):
    """One delivery, how large its body is, and which backends it was to be told to. `bytes` is 0 where the body was
    removed for its age, which is then told."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_DETAIL]})

    delivery: DeliveryView
    bytes: int
    body_removed_at: datetime | None = None
    body_sha256: str
    dispatches: tuple[DispatchView, ...]
