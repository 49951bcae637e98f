"""`POST /api/v1/dispatches`: another relay's dispatch, handed over by a job of our own repository (`relay submit`).

A token of scope `operate` is the permission. What the dispatch asks for is done before the answer, so that it can name
the run.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from sqlalchemy.orm import Session

from relay.access.actions import record_action
from relay.backend.envelope import Envelope, EnvelopeError, envelope_of
from relay.backend.submissions import record_submission
from relay.context import Context, RelayContext
from relay.errors import BadMessageError
from relay.intake.deliveries import handle_delivery
from relay.intake.events import names_repository
from relay.runs.queries import run_summary
from relay.store.models import Delivery
from relay.views import SubmissionView
from relay.web.auth import Operator, OperatorOnly
from relay.web.protocol_words import PULL_REQUEST_OPENED
from relay.web.refusals import Responses, refuses

router = APIRouter(prefix="/api/v1/dispatches", tags=["operator"], dependencies=[OperatorOnly])

_BEFORE: Responses = {200: {"model": SubmissionView, "description": "It had been submitted before"}}
_NOT_ABOUT_US = BadMessageError(
    "The dispatch is not about pytorch/pytorch.",
    "RELAY_UPSTREAM_REPO names the repository whose changes this relay tests.",
)
_EXAMPLE = {"event_type": "pull_request", "delivery_id": "6a1f0c2e", "payload": PULL_REQUEST_OPENED}


@router.post(
    "",
    status_code=201,
    summary="Submit another relay's dispatch",
    responses=_BEFORE | refuses(_NOT_ABOUT_US),
)
def submit(
    context: Context,
    operator: Operator,
    response: Response,
    dispatch: Annotated[dict[str, Any], Body(examples=[_EXAMPLE])],
) -> SubmissionView:
    """Takes in a dispatch: 201, or 200 when it was there before. The answer names the run it led to."""
    envelope = _envelope(dispatch)
    if not names_repository(envelope.payload, context.settings.upstream_repo):
        raise BadMessageError(
            f"The dispatch is not about {context.settings.upstream_repo}.",
            "RELAY_UPSTREAM_REPO names the repository whose changes this relay tests.",
        )
    with context.store.writing() as session:
        delivery, repeated = record_submission(session, envelope, context.now())
        row_id = delivery.id
        subject = f"dispatch {envelope.delivery_id}"
        record_action(session, operator, "dispatch.submit", context.now(), subject=subject)
    handle_delivery(context, row_id)
    response.status_code = 200 if repeated else 201
    with context.store.reading() as session:
        return _view(session, context, row_id, envelope, repeated=repeated)


def _envelope(dispatch: dict[str, Any]) -> Envelope:
    try:
        return envelope_of(dispatch)
    except EnvelopeError as error:
        raise BadMessageError(
            f"This is no dispatch of a relay: {error}.", "Hand over the file that GITHUB_EVENT_PATH names, unchanged."
        ) from error


def _view(
    session: Session, context: RelayContext, row_id: int, envelope: Envelope, *, repeated: bool
) -> SubmissionView:
    delivery = session.get_one(Delivery, row_id)
    url = context.settings.public_url
    run = run_summary(session, delivery.run_id, url) if delivery.run_id is not None else None
    return SubmissionView(delivery_id=envelope.delivery_id, repeated=repeated, note=delivery.note, run=run)
