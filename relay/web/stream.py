"""Server-sent events: `GET /api/v1/events` tells what happens to all runs, `GET /api/v1/runs/{id}/events` the history
of one run until it is over.

However many are open, one reader asks the record (`relay.web.live`); a stream asks it only for the history of its run,
when it begins and when the run ends. Events carry their id, so a reader that was cut off says `Last-Event-ID` and
misses nothing, or is told `resync` when that is too long ago. FastAPI adds a comment as heartbeat every 15 s and closes
the generator when the reader is gone.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from relay.context import Context, RelayContext
from relay.runs.queries import ensure_run, events_after
from relay.runs.states import FINAL_RUN_STATES
from relay.views import RunEvent
from relay.web.live.access import Live
from relay.web.live.events import Follower
from relay.web.live.tail import Told
from relay.web.paging import LARGEST
from relay.web.read_api import RunId
from relay.web.refusals import Responses

router = APIRouter(prefix="/api/v1", tags=["read"])

_BATCH = 200
_STREAMED = (
    "id: 9001\n"
    'data: {"id":9001,"run_id":128,"at":"2026-11-30T09:00:04Z","kind":"run.selecting","text":"chooses tests"}\n\n'
)
_STREAM: Responses = {200: {"content": {"text/event-stream": {"example": _STREAMED}}}}
_FINAL_KINDS = frozenset(f"run.{state}" for state in FINAL_RUN_STATES)

LastEventId = Annotated[str, Header(description="The id of the last event a reader got; browsers send it themselves")]


def known_run(context: Context, run_id: RunId) -> int:
    """The run id, checked before the stream begins: once it has begun there is no status left to say 404 with."""
    with context.store.reading() as session:
        ensure_run(session, run_id)
    return run_id


@router.get(
    "/events", response_class=EventSourceResponse, summary="Events of all runs, as they come", responses=_STREAM
)
async def all_events(
    live: Live,
    last_event_id: LastEventId = "",
    after: Annotated[
        int | None, Query(ge=0, le=LARGEST, description="Begin after this event id; from now on if left out")
    ] = None,
) -> AsyncIterator[ServerSentEvent]:
    """From now on, or from an id on. First comes `ready` with the id where the stream begins. A
    reader that was away for longer than events are kept, or that is too slow, gets `resync`: it has missed something
    and had better read anew what it shows."""
    with live.events.following() as follower:
        mark = await follower.begin(_resume_point(last_event_id, after))
        yield ServerSentEvent(event="ready", data={"last": mark}, id=str(mark))
        while True:
            news = await follower.news()
            if news.gap:
                yield ServerSentEvent(event="resync", data={"last": news.mark}, id=str(news.mark))
            for told in news.told:
                yield ServerSentEvent(raw_data=told.data, id=str(told.mark))


@router.get(
    "/runs/{run_id}/events",
    response_class=EventSourceResponse,
    summary="Events of a run, as they come",
    responses=_STREAM,
)
async def events(
    context: Context,
    live: Live,
    run_id: Annotated[int, Depends(known_run)],
    last_event_id: LastEventId = "",
    after: Annotated[int, Query(ge=0, le=LARGEST, description="Begin after this event id")] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Its history first, oldest first; the stream ends after the last one of a run that is over."""
    history = _History(context, run_id, _resume_point(last_event_id, after) or 0)
    async for event in history.rest():
        yield event
    if history.over:
        return
    with live.events.following() as follower:
        await follower.begin()
        while not history.over:
            # What was written before the follower stood there, or what it was too slow for; and at the end, whether
            # that was all.
            async for event in history.rest():
                yield event
            if not history.over:
                async for told in _until_end(follower, history):
                    yield ServerSentEvent(raw_data=told.data, id=str(told.event_id))


@dataclass
class _History:
    """What is on record of a run, read on from the event `seen`."""

    context: RelayContext
    run_id: int
    seen: int
    over: bool = False

    async def rest(self) -> AsyncIterator[ServerSentEvent]:
        """Every event after `seen`."""
        while True:
            self.over, batch = await run_in_threadpool(self._read)
            for event in batch:
                self.seen = event.id
                yield ServerSentEvent(data=event, id=str(event.id))
            if len(batch) < _BATCH:
                return

    def _read(self) -> tuple[bool, tuple[RunEvent, ...]]:
        with self.context.store.reading() as session:
            return events_after(session, self.run_id, self.seen, limit=_BATCH)


async def _until_end(follower: Follower, history: _History) -> AsyncIterator[Told]:
    """New events of the run, until its last one or until the follower was too slow."""
    while not (news := await follower.news()).gap:
        for told in news.told:
            if told.run_id == history.run_id and told.event_id > history.seen:
                history.seen = told.event_id
                yield told
                if told.kind in _FINAL_KINDS:
                    return


def _resume_point(last_event_id: str, after: int | None) -> int | None:
    """The header of a reconnecting reader is newer than the address it first opened. An odd one begins anew."""
    known = last_event_id if last_event_id.isascii() and last_event_id.isdecimal() else ""
    return min(int(known[:10]), LARGEST) if known else after
