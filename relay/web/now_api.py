"""`GET /api/v1/now`: what is going on, for the page *Now* and for programs. Open pages share what was read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.context import Context, RelayContext
from relay.now_views import NowView
from relay.queue_terms import policy_of
from relay.runs.now import now_board
from relay.web.live.access import Reads
from relay.web.live.sharing import OwnReads, SharedReads

router = APIRouter(prefix="/api/v1", tags=["read"])

DEVICE_CAP = 100


@router.get("/now", summary="What is going on")
def now(
    context: Context,
    reads: Reads,
    device: Annotated[str, Query(max_length=DEVICE_CAP, description="This device alone; all if left out")] = "",
) -> NowView:
    """Running and queued runs by device, with elapsed and expected time, the place in the queue and why they wait, how
    much people wait for, and the workers with their last heartbeats. `GET /api/v1/events?after=<last_event>` tells when
    to ask again."""
    return board(context, reads, device)


def board(context: RelayContext, reads: OwnReads | SharedReads, device: str) -> NowView:
    """What is going on at this moment; for open pages, what was less than a second and no event ago."""
    known = storable(device)

    def read() -> NowView:
        settings = context.settings
        with context.store.reading() as session:
            return now_board(
                *(session, settings.public_url, context.devices, context.now()),
                lease_seconds=settings.lease_seconds,
                device=known,
                policy=policy_of(settings),
            )

    return reads.get(("now", known), read)


def storable(device: str) -> str:
    """PostgreSQL refuses to compare a text with NUL, and no device has one in its name."""
    return device.replace("\0", "\N{REPLACEMENT CHARACTER}")
