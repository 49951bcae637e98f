"""`GET /api/v1/runs/{id}/events`: a run's history as server-sent events, from any point on until the run is over.

The only asynchronous reader: one waiting coroutine per open page, with the database read in the thread pool. Events
carry their id, so a reader that was cut off says `Last-Event-ID` and misses nothing; FastAPI adds a comment as
heartbeat every 15 s and closes the generator when the reader is gone.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from relay.context import Context, RelayContext
from relay.runs.queries import ensure_run, events_after
from relay.views import RunEvent
from relay.web.read_api import LARGEST, RunId

router = APIRouter(prefix="/api/v1", tags=["read"])

_POLL_S = 0.5
_BATCH = 200


def known_run(context: Context, run_id: RunId) -> int:
    """The run id, checked before the stream begins: once it has begun there is no status left to say 404 with."""
    with context.store.reading() as session:
        ensure_run(session, run_id)
    return run_id


@router.get("/runs/{run_id}/events", response_class=EventSourceResponse)
async def events(
    context: Context,
    run_id: Annotated[int, Depends(known_run)],
    last_event_id: Annotated[str, Header()] = "",
    after: Annotated[int, Query(ge=0, le=LARGEST, description="Begin after this event id")] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Events of the run, oldest first; the stream ends after the last one of a run that is over."""
    seen = _resume_point(last_event_id, after)
    while True:
        over, batch = await run_in_threadpool(_read, context, run_id, seen)
        for event in batch:
            seen = event.id
            yield ServerSentEvent(data=event, id=str(event.id))
        if len(batch) == _BATCH:
            continue
        if over:
            return
        await asyncio.sleep(_POLL_S)


def _resume_point(last_event_id: str, after: int) -> int:
    """The header of a reconnecting reader is newer than the address it first opened. An odd one begins anew."""
    known = last_event_id if last_event_id.isascii() and last_event_id.isdecimal() else ""
    return min(int(known[:10]), LARGEST) if known else after


def _read(context: RelayContext, run_id: int, after: int) -> tuple[bool, tuple[RunEvent, ...]]:
    with context.store.reading() as session:
        return events_after(session, run_id, after, limit=_BATCH)
