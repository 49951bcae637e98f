"""`GET /api/v1/tests/history`: how one test did, run by run, and since when it fails. Open like the rest of the read
API; what it answers is made in `relay.runs.histories`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.context import Context
from relay.runs.histories import history_of
from relay.views import TestHistory
from relay.web.paging import Before, Paged

router = APIRouter(prefix="/api/v1/tests", tags=["read"])


@router.get("/history", summary="How a test did, run by run")
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
