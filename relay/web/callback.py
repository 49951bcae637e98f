"""`POST /github/callback`: a backend tells how its job goes. HTTP only; what becomes of it is `relay.crcr.desk`'s.

A body is bounded before anything of it is read, and an address before it has said who it is.
"""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from relay.context import Context, RelayContext
from relay.crcr.callback import CallbackRefusedError
from relay.crcr.desk import RETRY_S, CallbackDesk
from relay.parts import TokenRefusedError
from relay.web.addresses import address_of
from relay.web.body_cap import BodyTooLargeError, read_capped
from relay.web.protocol_words import CALLBACK_ANSWERS, CALLBACK_ASKED

MEBIBYTE = 1024 * 1024
BODY_CAP = 2 * MEBIBYTE
#: The original has no cap of its own; the platform it runs on takes no larger request.
STRICT_BODY_CAP = 6 * MEBIBYTE
#: So much more than its cap of a body is read and thrown away to let the client hear the answer.
_DISCARD_FACTOR = 4

router = APIRouter()


@router.post(
    "/github/callback",
    summary="Take in a backend's report of one of its jobs",
    tags=["intake"],
    responses=CALLBACK_ANSWERS,
    openapi_extra=CALLBACK_ASKED,
)
async def receive(request: Request, context: Context) -> JSONResponse:
    """Answers when the report is recorded; what is to be sent on is sent afterwards."""
    desk = _desk_of(request, context)
    try:
        desk.check_address(address_of(request, context))
        raw = await _read(request, STRICT_BODY_CAP if desk.strict else BODY_CAP)
        answer = await run_in_threadpool(desk.take, raw, request.headers.get("Authorization"))
    except CallbackRefusedError as refusal:
        return _refusal(refusal)
    except TokenRefusedError as refusal:
        retry_s = RETRY_S if refusal.status == HTTPStatus.SERVICE_UNAVAILABLE else None
        return _refusal(CallbackRefusedError(refusal.status, refusal.detail, retry_after_s=retry_s))
    return JSONResponse(answer.body, headers=dict(answer.headers))


def _refusal(refusal: CallbackRefusedError) -> JSONResponse:
    headers = {} if refusal.retry_after_s is None else {"Retry-After": str(refusal.retry_after_s)}
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"detail": refusal.detail}, refusal.status, headers)


def _desk_of(request: Request, context: RelayContext) -> CallbackDesk:
    """The desk of this application, made by its first request; requests begin in one thread."""
    state = request.app.state
    if not hasattr(state, "callback_desk"):
        state.callback_desk = CallbackDesk(context)
    desk = state.callback_desk
    if not isinstance(desk, CallbackDesk):
        raise TypeError("app.state.callback_desk is this module's own")
    return desk


async def _read(request: Request, cap: int) -> bytes:
    """The body. Raises `CallbackRefusedError` 413 when it is longer than `cap` bytes."""
    try:
        return await read_capped(request, cap, discard_factor=_DISCARD_FACTOR)
    except BodyTooLargeError as error:
        raise CallbackRefusedError(413, f"callback body is larger than {cap} bytes") from error
