"""`GET /api/v1/actions`: the audit log. It names people's tokens, so it is for operators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.access.actions import ActionFilter, list_actions
from relay.access_views import ActionPage
from relay.context import Context
from relay.store.access_models import ACTOR_CAP
from relay.web.auth import OperatorOnly
from relay.web.paging import LARGEST, Before, Limit, Paged
from relay.web.read_api import WITHOUT_NUL

router = APIRouter(prefix="/api/v1/actions", tags=["access"], dependencies=[OperatorOnly])


@router.get("", summary="What operators did")
def actions(
    context: Context,
    paging: Paged,
    *,
    actor: Annotated[
        str | None, Query(max_length=ACTOR_CAP, pattern=WITHOUT_NUL, description="The name of a token")
    ] = None,
    action: Annotated[
        str | None, Query(max_length=64, pattern=WITHOUT_NUL, description="A whole word, for example run.rerun")
    ] = None,
    run: Annotated[int | None, Query(ge=1, le=LARGEST, description="Only what was done to this run")] = None,
    limit: Limit = 50,
    before: Before = None,
) -> ActionPage:
    """What operators did, newest first. An action that failed changed nothing and is not in it."""
    with context.store.reading() as session:
        page = list_actions(session, ActionFilter(actor, action, run), limit=limit, before=paging.number(before))
    return paging.linked(page, page.next_before)
