"""`GET /api/v1/runs/{id}/log`: what the shards of a run printed, by page, or whole as text and as JSON lines.

Routes only: what they answer is made in `relay.runs.log_reading`. Open like the rest of the read API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from relay.context import Context, RelayContext
from relay.log_views import LogLineView, LogPage
from relay.runs.log_places import LogWanted, Place, parse_place
from relay.runs.log_reading import every_line, read_end_of_log, read_log
from relay.runs.queries import ensure_run
from relay.web.artifacts_api import as_file
from relay.web.paging import LARGEST, Limit, Paged
from relay.web.read_api import RunId
from relay.web.refusals import answers

router = APIRouter(prefix="/api/v1/runs", tags=["read"])

_TEXT = "[shard 512.1     1.203] running test/test_ops.py (1 of 4)\n"
_JSON_LINE = (
    '{"place":"81.2","shard":512,"attempt":1,"number":27,"at":1.203,"kind":"step","text":"fetching the change"}\n'
)

Shard = Annotated[int | None, Query(ge=1, le=LARGEST, description="Only this shard, by its number")]
Attempt = Annotated[int | None, Query(ge=1, le=LARGEST, description="Only this attempt at it")]
PlaceText = Annotated[str, Query(max_length=20, pattern=r"^([1-9]\d{0,9}\.\d{1,5})?$")]


@router.get("/{run_id}/log", summary="A page of a run's log")
def log(
    context: Context,
    paging: Paged,
    run_id: RunId,
    *,
    shard: Shard = None,
    attempt: Attempt = None,
    q: Annotated[str, Query(max_length=200, description="Only lines with this text, in any letter case")] = "",
    after: Annotated[PlaceText, Query(description="Only lines after this `place`; what follows a run asks so")] = "",
    before: Annotated[PlaceText, Query(description="The last lines before this `place`")] = "",
    tail: Annotated[bool, Query(description="The last lines of all")] = False,
    limit: Limit = 200,
) -> LogPage:
    """The lines of a run's shards in the order in which they came, oldest first; from the beginning, unless `after`,
    `before` or `tail` says otherwise. Of a large log one answer looks at some megabytes: `searched` and `total` say how
    far it got, and `next` goes on."""
    wanted = LogWanted(run_id, shard, attempt, q)
    with context.store.reading() as session:
        if tail:
            return read_end_of_log(session, wanted, limit=limit)
        if before and not paging.given:
            return read_log(session, wanted, before=parse_place(before), limit=limit)
        place = Place(*paging.numbers(2)) if paging.given else parse_place(after) if after else None
        page = read_log(session, wanted, after=place, limit=limit)
    return paging.linked(page, *(parse_place(page.last) if page.later else (None,)))


@router.get(
    "/{run_id}/log.txt",
    summary="A run's log as text",
    response_class=StreamingResponse,
    responses=answers(_TEXT, "text/plain"),
)
def log_text(context: Context, run_id: RunId, *, shard: Shard = None, attempt: Attempt = None) -> StreamingResponse:
    """All lines there are so far, each after its shard, attempt and seconds."""
    pieces = _every_line(context, LogWanted(run_id, shard, attempt), as_text)
    return as_file(pieces, f"run-{run_id}.log.txt", "text/plain; charset=utf-8")


@router.get(
    "/{run_id}/log.jsonl",
    summary="A run's log as JSON lines",
    response_class=StreamingResponse,
    responses=answers(_JSON_LINE, "application/x-ndjson"),
)
def log_lines(context: Context, run_id: RunId, *, shard: Shard = None, attempt: Attempt = None) -> StreamingResponse:
    """All lines there are so far, one JSON object each, as in a page of the log."""
    pieces = _every_line(context, LogWanted(run_id, shard, attempt), _as_json)
    return as_file(pieces, f"run-{run_id}.log.jsonl", "application/x-ndjson")


def as_text(line: LogLineView) -> str:
    """A line of the log for people."""
    return f"[shard {line.shard}.{line.attempt} {line.at:9.3f}] {line.text}\n"


def _as_json(line: LogLineView) -> str:
    return json.dumps(line.model_dump(mode="json"), ensure_ascii=False) + "\n"


def _every_line(context: RelayContext, wanted: LogWanted, write: Callable[[LogLineView], str]) -> Iterator[str]:
    """Raises `NotFoundError` at once, not in the middle of the answer."""
    with context.store.reading() as session:
        ensure_run(session, wanted.run_id)
    return _written(context, wanted, write)


def _written(context: RelayContext, wanted: LogWanted, write: Callable[[LogLineView], str]) -> Iterator[str]:
    after: Place | None = None
    while True:
        # A session for each part: a slow reader holds no transaction open.
        with context.store.reading() as session:
            lines = tuple(every_line(session, wanted, after=after))
        yield "".join(map(write, lines))
        if not lines:
            return
        after = parse_place(lines[-1].place)
