"""Workers say that they are there (`POST /api/v1/worker/presence`), and readers ask who is (`GET /api/v1/workers`)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.context import Context
from relay.contract import PresenceReply, WorkerPresent
from relay.now_views import WorkersView
from relay.runs.presence import PRESENCE_EVERY_S, say_present
from relay.runs.worker_differences import differences
from relay.runs.workers_seen import workers_seen
from relay.web.auth import WorkerOnly
from relay.web.now_api import DEVICE_CAP, storable

router = APIRouter(prefix="/api/v1/worker", tags=["worker"], dependencies=[WorkerOnly])
read_router = APIRouter(prefix="/api/v1", tags=["read"])


@router.post("/presence", summary="Say that a worker is there, or that it goes")
def presence(context: Context, posted: WorkerPresent) -> PresenceReply:
    """Sent by a worker at its start, then every `again_in_s` seconds whether it works or waits, and with `leaving` at
    its end. Keeps no lease alive: the heartbeats of shards do that."""
    with context.store.writing() as session:
        say_present(session, posted, context.now())
    return PresenceReply(again_in_s=PRESENCE_EVERY_S)


@read_router.get("/workers", summary="Which workers there are, and what differs between them")
def workers(
    context: Context,
    device: Annotated[str, Query(max_length=DEVICE_CAP, description="This device alone; all if left out")] = "",
) -> WorkersView:
    """Workers of the last day: at work, waiting, silent (three heartbeats did not come), and gone by their own word.
    At most 100 of each device, those that work or wait first."""
    with context.store.reading() as session:
        found = workers_seen(
            session, context.now(), lease_seconds=context.settings.lease_seconds, device=storable(device)
        )
    return WorkersView(workers=found, differences=differences(found))
