"""The inbox over HTTP: which webhooks arrived, and what came of them. Reads only, never a payload."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from relay.context import Context
from relay.intake.listing import DeliveryFilter, delivery_detail, list_deliveries
from relay.intake.views import DeliveryDetail, DeliveryPage
from relay.store.models import DeliveryState
from relay.web.paging import LARGEST, Before, Limit, Paged

router = APIRouter(prefix="/api/v1/inbox", tags=["deliveries"])

RowId = Annotated[int, Path(ge=1, le=LARGEST, description="A webhook's number in the inbox")]
Name = Annotated[str | None, Query(max_length=200, description="The whole X-GitHub-Delivery")]


@router.get("", summary="Webhooks that arrived")
def webhooks(
    context: Context,
    paging: Paged,
    *,
    state: Annotated[DeliveryState | None, Query(description="Only those in this state")] = None,
    delivery_id: Name = None,
    limit: Limit = 50,
    before: Before = None,
) -> DeliveryPage:
    """The newest first, with how many there are in each state. Never a payload."""
    with context.store.reading() as session:
        page = list_deliveries(session, DeliveryFilter(state, delivery_id), limit=limit, before=paging.number(before))
    return paging.linked(page, page.next_before)


@router.get("/{row_id}", summary="One webhook of the inbox")
def webhook(context: Context, row_id: RowId) -> DeliveryDetail:
    """One of them, with the backends that it was to be told to."""
    with context.store.reading() as session:
        return delivery_detail(session, row_id)
