"""Caps on request bodies: under /api answered in the API's own shape, elsewhere told to whoever reads one.

Starlette's `max_body_size` answers in plain text, and hangs up on a client that is still sending, which then sees a
broken connection instead of the reason. The webhook and the callback have caps of their own.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relay.views import ApiError
from relay.web.error_handlers import error_response

MEBIBYTE = 1024 * 1024

#: Path prefix -> bytes; the first that fits counts. A selection of a large change carries every considered test.
BODY_CAPS = {
    "/api/v1/worker/triage/": 4 * MEBIBYTE,
    "/api/v1/worker/": 32 * MEBIBYTE,
    "/api/v1/upgrades": 32 * MEBIBYTE,
    "/api/crcr/results": 2 * MEBIBYTE,
    "/api/": 64 * 1024,
}

#: So much more than its cap of a body is read and thrown away to let the client hear the answer.
_DISCARD_FACTOR = 4


#: Python refuses to read very long numbers; no body has such a length.
_LENGTH_DIGITS = 20


class BodyTooLargeError(Exception):
    """A body is longer than its cap, by its Content-Length or by what came."""


async def read_capped(request: Request, cap: int, *, discard_factor: int) -> bytes:
    """The body, of which at most `cap` bytes are ever held. One that is longer is read on and thrown away up to
    `discard_factor` times the cap: a client that is still sending would see a broken connection instead of the answer.

    Raises:
        BodyTooLargeError: the body is longer.
    """
    length = request.headers.get("Content-Length", "")
    if length.isdecimal() and (len(length) > _LENGTH_DIGITS or int(length) > cap * discard_factor):
        raise BodyTooLargeError
    held, seen = bytearray(), 0
    async for chunk in request.stream():
        seen += len(chunk)
        if seen <= cap:
            held += chunk
        else:
            held.clear()
        if seen > cap * discard_factor:
            raise BodyTooLargeError
    if seen > cap:
        raise BodyTooLargeError
    return bytes(held)


class BodyCapMiddleware:
    """Refuses bodies over the cap of their path with 413, by their announced length or by what comes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cap = _cap(scope)
        if cap is None:
            await self._app(scope, receive, send)
        elif _announced(scope) > cap:
            await _discard(receive, cap * _DISCARD_FACTOR)
            answer = ApiError(code="too_large", message=_sentence(cap), hint="Send the content in smaller parts.")
            await error_response(Request(scope), 413, answer)(scope, receive, send)
        else:
            await self._app(scope, _capped(receive, cap), send)


def _cap(scope: Scope) -> int | None:
    if scope["type"] != "http":
        return None
    return next((cap for prefix, cap in BODY_CAPS.items() if scope["path"].startswith(prefix)), None)


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isdecimal() else 0


def _capped(receive: Receive, cap: int) -> Receive:
    seen = 0

    async def receive_capped() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > cap:
            if message.get("more_body"):
                await _discard(receive, cap * _DISCARD_FACTOR)
            raise HTTPException(413, _sentence(cap))
        return message

    return receive_capped


async def _discard(receive: Receive, limit: int) -> None:
    seen = 0
    while seen <= limit:
        message = await receive()
        seen += len(message.get("body", b""))
        if not message.get("more_body"):
            return


def _sentence(cap: int) -> str:
    return f"The body is larger than {cap} bytes."
