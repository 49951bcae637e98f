"""Answers of the read API that a reader has already: an `ETag` on each, and 304 for who sends it back.

One place for all routes: what is answered to a GET below `/api/` is held until it is whole, up to a size, and named by
its digest. A stream of events, and an answer that is larger, passes through as it comes and unnamed.
Source: https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_API = "/api/"
#: A larger answer (a report of a whole run) goes out as it comes.
HELD_BYTES = 8 * 1024 * 1024
_STREAM = "text/event-stream"
#: What a 304 says besides the headers of every answer.
_KEPT = ("etag", "cache-control", "vary", "content-location", "date", "expires", "link")


class RevalidationMiddleware:
    """Names what the read API answers, and leaves out what the reader has. `private`: reading takes a token, so that no
    cache between may keep an answer for somebody else; one that was asked for with a token is always so."""

    def __init__(self, app: ASGIApp, *, private: bool) -> None:
        self._app = app
        self._private = private

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(_API):
            headers = Headers(scope=scope)
            private = self._private or "authorization" in headers
            answer = _Answer(send, headers.get("if-none-match", ""), private=private)
            await self._app(scope, receive, answer.take)
        else:
            await self._app(scope, receive, send)


@dataclass
class _Answer:
    """One answer on its way out, held back while it may still be named."""

    send: Send
    known: str
    private: bool
    start: Message | None = None
    body: bytearray = field(default_factory=bytearray)

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_named(message):
            self.start = message
        elif message["type"] == "http.response.body" and self.start is not None:
            await self._hold(self.start, message)
        else:
            await self.send(message)

    async def _hold(self, start: Message, message: Message) -> None:
        self.body += message.get("body", b"")
        if not message.get("more_body", False):
            self.start = None
            await self._answer(start)
        elif len(self.body) > HELD_BYTES:
            self.start = None
            await self.send(start)
            await self.send({"type": "http.response.body", "body": bytes(self.body), "more_body": True})
            self.body.clear()

    async def _answer(self, start: Message) -> None:
        headers = MutableHeaders(scope=start)
        tag = f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'
        headers["ETag"] = tag
        headers.setdefault("Cache-Control", "private, no-cache" if self.private else "no-cache")
        if self.private:
            headers.add_vary_header("Authorization, Cookie")
        if knows(self.known, tag):
            start = {**start, "status": int(HTTPStatus.NOT_MODIFIED), "headers": _kept(headers)}
            self.body.clear()
        await self.send(start)
        await self.send({"type": "http.response.body", "body": bytes(self.body)})


def knows(given: str, tag: str) -> bool:
    """Whether an `If-None-Match` names this tag; weakly, for proxies that pack an answer mark its tag as weak."""
    if given.strip() == "*":
        return True
    return tag in (one.strip().removeprefix("W/") for one in given.split(","))


def _is_named(start: Message) -> bool:
    return start["status"] == HTTPStatus.OK and not Headers(raw=start["headers"]).get("content-type", "").startswith(
        _STREAM
    )


def _kept(headers: MutableHeaders) -> list[tuple[bytes, bytes]]:
    """An answer without a body says nothing about one."""
    return [(name, value) for name, value in headers.raw if name.decode("latin-1").lower() in _KEPT]
