"""The outbox over HTTP: everybody may read what is due, sent and dead; an operator sends a dead letter again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query

from relay.context import Context
from relay.outbox.listing import LetterFilter, letter_detail, list_letters, unknown_letter
from relay.outbox.views import LetterDetail, LetterPage, LetterState, Replayed, ReplayRequest
from relay.store.crcr_models import OutboxKind
from relay.web.auth import Operator
from relay.web.paging import LARGEST, Before, Limit, Paged
from relay.web.refusals import refuses
from relay.web.sending_again import send_again

router = APIRouter(prefix="/api/v1/outbox", tags=["deliveries"])

LetterId = Annotated[int, Path(ge=1, le=LARGEST, description="A delivery's number")]


@router.get("", summary="What leaves the relay, or left it")
def letters(
    context: Context,
    paging: Paged,
    *,
    state: Annotated[LetterState | None, Query(description="Only those in this state")] = None,
    kind: Annotated[OutboxKind | None, Query(description="Only those of this kind")] = None,
    target: Annotated[str | None, Query(max_length=1_000, description="A repository, or an address")] = None,
    limit: Limit = 50,
    before: Before = None,
) -> LetterPage:
    """The newest first, with how many there are in each state."""
    with context.store.reading() as session:
        page = list_letters(session, LetterFilter(state, kind, target), limit=limit, before=paging.number(before))
    return paging.linked(page, page.next_before)


@router.get("/{letter_id:int}", summary="One delivery of the outbox")
def letter(context: Context, letter_id: LetterId) -> LetterDetail:
    """One of them, with the dispatch it belongs to."""
    with context.store.reading() as session:
        return letter_detail(session, letter_id)


@router.post("/replay", summary="Send dead letters again", responses=refuses(unknown_letter(97)))
def replay_letters(context: Context, operator: Operator, wanted: Annotated[ReplayRequest, Body()]) -> Replayed:
    """Makes dead ones due again, with all their attempts before them."""
    return send_again(context, operator, wanted.ids)
