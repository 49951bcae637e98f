"""`GET /api/v1/tests`: the ids of tests by a part of their names; and `/history` below it: how one test did, run by
run, and since when it fails. Open like the rest of the read API; the answers are made in `relay.runs.histories`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.context import Context
from relay.errors import NotFoundError
from relay.found_views import FoundTestPage, FoundTestView
from relay.runs.histories import SEARCHED_RUNS, find_tests, history_of
from relay.views import TestHistory
from relay.web.paging import Before, Limit, Paged
from relay.web.refusals import refuses

router = APIRouter(prefix="/api/v1/tests", tags=["read"])


_UNKNOWN = NotFoundError(
    "No run on spyre planned the test test/test_ops.py::TestX::test_y.",
    "Give the whole id, as GET /api/v1/runs/{id}/tests and the page /tests show it.",
)


@router.get("", summary="Tests by a part of their names")
def find(
    context: Context,
    paging: Paged,
    *,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=1_000,
            description="A part of the test's name, in any letter case",
            examples=["test_relu"],
        ),
    ],
    device: Annotated[str, Query(max_length=100, description="The service's own device if left out")] = "",
    limit: Limit = 100,
) -> FoundTestPage:
    """Tests of the newest finished runs, by name, each with the newest of these runs that planned it: for the whole id
    that `/api/v1/tests/history` asks for."""
    chosen = storable(device) or context.settings.device
    after = paging.name() if paging.given else ""
    with context.store.reading() as session:
        found = find_tests(session, chosen, storable(q), limit=limit + 1, after=after)
    shown = tuple(FoundTestView(id=it.id, run_id=it.run_id, verdict=it.verdict) for it in found[:limit])
    page = FoundTestPage(tests=shown, device=chosen, runs=SEARCHED_RUNS)
    return paging.linked(page, shown[-1].id if len(found) > limit else None)


@router.get("/history", summary="How a test did, run by run", responses=refuses(_UNKNOWN))
def history(
    context: Context,
    paging: Paged,
    *,
    test: Annotated[
        str, Query(alias="id", min_length=1, max_length=1_000, description="The whole id of a collected test")
    ],
    device: Annotated[str, Query(max_length=100, description="The service's own device if left out")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="How many runs")] = 100,
    before: Before = None,
) -> TestHistory:
    """What each run found out about the test, newest first; since when it fails on the branch, with the first bad and
    the last good commit; and how often attempts disagreed on one commit (`disagreements` of `commits`)."""
    with context.store.reading() as session:
        chosen = storable(device) or context.settings.device
        page = history_of(session, storable(test), chosen, limit=limit, before=paging.number(before))
    return paging.linked(page, page.next_before)


def storable(text: str) -> str:
    """PostgreSQL refuses to compare a text with NUL, and no id on record has one."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
