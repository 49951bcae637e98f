"""`POST /github/webhook`: judge a delivery, have it kept and decided about, answer. Our own runs begin after that.

Errors are `{"detail": ...}` as in the wire protocol, unlike those of `/api/v1`. The order of the checks is part of
that protocol: event name, size, signature, JSON, repository. What backends are told is `relay.crcr.receiving`'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.background import BackgroundTask, BackgroundTasks
from starlette.concurrency import run_in_threadpool

from relay.context import Context, RelayContext
from relay.crcr import receiving
from relay.crcr.asked import Incoming
from relay.crcr.receiving import Received, WebhookFailedError
from relay.errors import ConflictError
from relay.intake.comment_wishes import is_ours, is_supported
from relay.intake.deliveries import DELIVERY_ID_CAP, delivery_identity, handle_delivery
from relay.intake.events import Ignored, parse_event
from relay.intake.full_wishes import full_wishes
from relay.intake.signature import SIGNATURE_HEADER, SignatureMismatchError, SignatureMissingError, check_signature
from relay.intake.watching import INBOX
from relay.web.body_cap import BodyTooLargeError, read_capped
from relay.web.protocol_words import WEBHOOK_ANSWERS, WEBHOOK_ASKED

_log = structlog.get_logger(__name__)

EVENT_HEADER = "X-GitHub-Event"
DELIVERY_HEADER = "X-GitHub-Delivery"

#: An oversized body is read on and thrown away up to this many times the cap: a client that is still sending would
#: otherwise see a broken connection instead of the answer.
_DISCARD_FACTOR = 8


router = APIRouter()


class _RefusalError(Exception):
    """The delivery is refused with a status and a sentence."""

    def __init__(self, status: HTTPStatus, detail: object) -> None:
        super().__init__(str(detail))
        self.status = status
        self.detail = detail


@dataclass(frozen=True, slots=True)
class _Posted:
    """A request as it came, unchecked."""

    event: str
    signature: str | None
    delivery: str
    body: bytes


@router.post(
    "/github/webhook",
    summary="Take in a GitHub webhook delivery",
    tags=["intake"],
    responses=WEBHOOK_ANSWERS,
    openapi_extra=WEBHOOK_ASKED,
)
async def receive(request: Request, context: Context) -> JSONResponse:
    """Answers as soon as the delivery is stored."""
    event = request.headers.get(EVENT_HEADER, "")
    if not is_supported(context.settings, event):
        return JSONResponse({"ignored": True})
    try:
        body = await _read_body(request, context.settings.webhook_max_bytes)
        signature, delivery = request.headers.get(SIGNATURE_HEADER), request.headers.get(DELIVERY_HEADER, "")
        return await run_in_threadpool(_take_in, context, _Posted(event, signature, delivery, body))
    except _RefusalError as refusal:
        return JSONResponse({"detail": refusal.detail}, refusal.status)


def _take_in(context: RelayContext, posted: _Posted) -> JSONResponse:
    _check(context, posted)
    payload = _decode(posted.body, strict=context.settings.crcr_strict_compat)
    if not is_ours(context.settings, posted.event, payload):
        return JSONResponse({"ignored": True})
    incoming = Incoming(posted.event, _identity(context, posted), posted.body, payload)
    with structlog.contextvars.bound_contextvars(delivery=incoming.delivery_id):
        return _decide(context, incoming)


def _decide(context: RelayContext, incoming: Incoming) -> JSONResponse:
    try:
        received = receiving.receive(context, incoming)
    except ConflictError as error:
        raise _RefusalError(HTTPStatus.CONFLICT, f"{error.message} {error.hint}") from error
    except WebhookFailedError as failure:
        raise _RefusalError(failure.status, failure.detail) from failure
    _log.info("webhook_taken", webhook=incoming.event, row=received.row_id, repeated=received.repeated)
    if context.answers_only:
        INBOX.ring()
    after = BackgroundTasks(list(_after(context, incoming, received.row_id)))
    return JSONResponse(_answer(context, incoming, received), received.status, background=after)


def _after(context: RelayContext, incoming: Incoming, row_id: int) -> Iterator[BackgroundTask]:
    """What nobody waits for. Each takes a thread: most webhooks have none."""
    if not context.answers_only:
        yield BackgroundTask(handle_delivery, context, row_id)
    if context.crcr is not None and receiving.touches_allowlist(context.crcr, incoming):
        yield BackgroundTask(receiving.refresh_allowlist, context.crcr)


def _answer(context: RelayContext, incoming: Incoming, received: Received) -> dict[str, Any]:
    """The protocol's answer and, unless the original's is wanted to the letter, our own: an event may have nothing to
    say to backends, and still open a run of ours."""
    answer = dict(received.answer)
    if context.settings.crcr_strict_compat:
        return answer
    own = parse_event(incoming.event, incoming.payload, full_wishes(context.settings).labels)
    if not isinstance(own, Ignored) and answer.pop("ignored", False):
        answer.pop("reason", None)
    return {"ok": True, "delivery_id": incoming.delivery_id, "repeated": received.repeated} | answer


def _check(context: RelayContext, posted: _Posted) -> None:
    secret = context.settings.webhook_secret
    try:
        check_signature(secret.get_secret_value() if secret else "", posted.body, posted.signature)
    except SignatureMissingError as error:
        raise _RefusalError(HTTPStatus.BAD_REQUEST, f"The header {SIGNATURE_HEADER} is missing.") from error
    except SignatureMismatchError as error:
        raise _RefusalError(
            HTTPStatus.UNAUTHORIZED,
            f"{SIGNATURE_HEADER} does not fit the body: is the webhook's secret the relay's RELAY_WEBHOOK_SECRET?",
        ) from error
    if len(posted.delivery) > DELIVERY_ID_CAP:
        raise _RefusalError(HTTPStatus.BAD_REQUEST, f"{DELIVERY_HEADER} is longer than {DELIVERY_ID_CAP} characters.")


def _decode(body: bytes, *, strict: bool) -> Mapping[str, Any]:
    """An empty body stands for an empty object."""
    try:
        payload = json.loads(body.decode() or "{}")  # given bytes, it would also guess at UTF-16
    except UnicodeDecodeError as error:
        raise _unusable("The body is not valid JSON: it is not UTF-8.", strict=strict) from error
    except (ValueError, RecursionError) as error:
        raise _RefusalError(HTTPStatus.BAD_REQUEST, "The body is not valid JSON.") from error
    if not isinstance(payload, dict):
        raise _unusable("The body is JSON, but not an object.", strict=strict)
    return payload


def _unusable(detail: str, *, strict: bool) -> _RefusalError:
    """The refusal of a body on which the original fails."""
    if strict:
        return _RefusalError(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal server error")
    return _RefusalError(HTTPStatus.BAD_REQUEST, detail)


def _identity(context: RelayContext, posted: _Posted) -> str:
    """GitHub's id of the delivery. Only the original took one without: its body's digest stands in then."""
    if not posted.delivery and not context.settings.crcr_strict_compat:
        raise _RefusalError(HTTPStatus.BAD_REQUEST, f"The header {DELIVERY_HEADER} is missing.")
    return delivery_identity(posted.delivery, posted.body)


async def _read_body(request: Request, cap: int) -> bytes:
    """The body. Raises `_RefusalError` 413 when it is longer than `cap` bytes."""
    try:
        return await read_capped(request, cap, discard_factor=_DISCARD_FACTOR)
    except BodyTooLargeError as error:
        detail = f"The body is larger than {cap} bytes (RELAY_WEBHOOK_MAX_BYTES)."
        raise _RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail) from error
