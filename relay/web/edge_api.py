"""`/api/v1/edges`: what selections missed once and run since, for everybody who may read; an operator forgets what was
remembered wrongly."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query

from relay.access.actions import record_action
from relay.context import Context
from relay.edge_views import EdgePage, EdgeRemoval, RemovedEdges
from relay.runs.missed_edges import forget_edges, list_edges
from relay.web.auth import Operator
from relay.web.history_api import storable
from relay.web.paging import LARGEST, Limit, Paged

router = APIRouter(prefix="/api/v1/edges", tags=["audits"])

#: Characters of what was removed in the log of what operators did.
_TOLD = 1_000


@router.get("", summary="What selections missed, and run since")
def edges(
    context: Context,
    paging: Paged,
    *,
    q: Annotated[
        str, Query(max_length=1_000, description="A part of the file's or the test's name", examples=["functional"])
    ] = "",
    run: Annotated[
        int | None, Query(ge=1, le=LARGEST, description="Only what the selection of this run missed", examples=[128])
    ] = None,
    device: Annotated[str, Query(max_length=100, description="The service's own device if left out")] = "",
    limit: Limit = 100,
) -> EdgePage:
    """Newest first. Each ties a changed file to a test: a change of the file runs the test, whatever else speaks
    against it, because the selection of a run once left it out and the change broke it."""
    with context.store.reading() as session:
        page, more = list_edges(
            *(session, storable(device) or context.settings.device),
            part=storable(q),
            run_id=run,
            limit=limit,
            before=paging.number(),
        )
    return paging.linked(page, more)


@router.post("/remove", summary="Forget what was remembered wrongly")
def remove(context: Context, operator: Operator, wanted: Annotated[EdgeRemoval, Body()]) -> RemovedEdges:
    """Forgets edges by number: their tests run with these files only where something else ties them. What is found
    missed again is remembered again."""
    with context.store.writing() as session:
        answer = forget_edges(session, wanted.ids)
        if answer.removed:
            numbers = ", ".join(str(edge.id) for edge in answer.removed)
            what = "; ".join(f"{edge.changed_path} -> {edge.base_test}" for edge in answer.removed)
            record_action(
                session, operator, "edge.remove", context.now(), subject=f"edges {numbers}", detail=what[:_TOLD]
            )
    return answer
