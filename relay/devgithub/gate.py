"""What every request passes: faults, inspection, credentials, the rate limit; and every answer: headers, inspection.

Pure ASGI, in front of the application, because a fault must be able to spoil an answer that was already made.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relay.devgithub.access import Caller, caller_of
from relay.devgithub.faults import Fault
from relay.devgithub.records import Answered, Asked, RefusedError
from relay.devgithub.state import DevGitHub

#: The answer to a request that GitHub's own description does not allow. GitHub has no such status: it never hides.
UNDESCRIBED = 599
#: Paths that are not GitHub's: steering, and the issuer of tokens, which is another host with GitHub.
OWN_PATHS = ("/_dev/", "/.well-known/")
_DOCUMENTATION = "https://docs.github.com/rest"


class Gate:
    """The ASGI application around the routes."""

    def __init__(self, routes: ASGIApp, state: DevGitHub) -> None:
        self._routes = routes
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._routes(scope, receive, send)
            return
        own = scope["path"].startswith(OWN_PATHS)
        fault = None if scope["path"].startswith("/_dev/") else self._state.faults.take(scope["method"], scope["path"])
        # Also when the answer is spoiled: cut with bytes unread, a connection is reset, which is another fault.
        body = await _whole_body(receive)
        if fault is not None and not fault.performed:
            await _spoil(fault, receive, send)
            return
        messages = await (self._pass(scope, body) if own else self._answer(scope, body))
        if fault is None:
            for message in messages:
                await send(message)
        else:
            await _spoil(fault, receive, send)

    async def _answer(self, scope: Scope, body: bytes) -> list[Message]:
        """GitHub's answer to a request, with its headers."""
        asked = _asked(scope, body)
        complaints = self._noted(asked, [each for inspect in self._state.inspectors for each in inspect(asked)])
        if complaints:
            return _json_answer(UNDESCRIBED, {"message": "; ".join(complaints)})
        try:
            _check_named(asked)
            caller = caller_of(self._state, asked.headers.get("authorization", ""))
        except RefusedError as refused:
            messages = _refusal(refused)
            extra = self._state.rate_limits.count("").headers()
        else:
            messages, extra = await self._limited(scope, body, caller)
        _add_headers(messages[0], extra)
        self._inspect(asked, messages)
        return messages

    async def _limited(self, scope: Scope, body: bytes, caller: Caller) -> tuple[list[Message], dict[str, str]]:
        quota = self._state.rate_limits.count(caller.name, requests=0 if scope["path"] == "/rate_limit" else 1)
        if quota.exceeded:
            refused = RefusedError(403, f"API rate limit exceeded for {caller.name or 'this address'}.")
            return _refusal(refused), quota.headers()
        scope.setdefault("state", {})["caller"] = caller
        return await self._pass(scope, body), quota.headers()

    async def _pass(self, scope: Scope, body: bytes) -> list[Message]:
        messages: list[Message] = []
        pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            return pending.pop() if pending else {"type": "http.disconnect"}

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._routes(scope, receive, keep)
        return messages

    def _inspect(self, asked: Asked, messages: list[Message]) -> None:
        body = b"".join(message.get("body", b"") for message in messages[1:])
        answer = Answered(messages[0]["status"], _text_headers(messages[0].get("headers", ())), body)
        self._noted(asked, [each for inspect in self._state.answer_inspectors for each in inspect(asked, answer)])

    def _noted(self, asked: Asked, complaints: list[str]) -> list[str]:
        self._state.complaints += [f"{asked.method} {asked.target}: {each}" for each in complaints]
        return complaints


def _check_named(asked: Asked) -> None:
    """GitHub answers no program that does not say who it is. Raises RefusedError 403."""
    if not asked.headers.get("user-agent"):
        raise RefusedError(403, "Request forbidden by administrative rules. Please set a User-Agent header.")


def _asked(scope: Scope, body: bytes) -> Asked:
    """The path stays as it was sent: a slash inside a branch's name is then still told from one of the address."""
    path = scope.get("raw_path", b"").decode("latin-1").partition("?")[0] or scope["path"]
    query = scope["query_string"].decode("latin-1")
    return Asked(scope["method"], f"{path}?{query}" if query else path, _text_headers(scope["headers"]), body)


async def _whole_body(receive: Receive) -> bytes:
    body: bytes = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return body


async def _spoil(fault: Fault, receive: Receive, send: Send) -> None:
    if fault.hang_s:
        await _hang(fault.hang_s, receive)
    if fault.drop or not fault.status:
        await _drop(send)
        return
    body = {"message": "Server Error", **fault.body}
    for message in _json_answer(fault.status, body, fault.headers):
        await send(message)


async def _hang(seconds: float, receive: Receive) -> None:
    """Until the time is over or the caller has gone."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    with suppress(TimeoutError):
        await asyncio.wait_for(gone(), seconds)


async def _drop(send: Send) -> None:
    """Promise a body and send none: the server then has to cut the connection, and the caller sees no whole answer."""
    headers = [(b"content-length", b"1")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


def _refusal(refused: RefusedError) -> list[Message]:
    return _json_answer(refused.status, refusal_body(refused), refused.headers)


def refusal_body(refused: RefusedError) -> dict[str, str]:
    """GitHub's `basic-error`."""
    return {"message": refused.message, "documentation_url": _DOCUMENTATION, "status": str(refused.status)}


def _json_answer(status: int, body: object, headers: Mapping[str, str] | None = None) -> list[Message]:
    content = json.dumps(body).encode()
    start: Message = {"type": "http.response.start", "status": status, "headers": []}
    _add_headers(start, {"Content-Type": "application/json; charset=utf-8", "Content-Length": str(len(content))})
    _add_headers(start, headers or {})
    return [start, {"type": "http.response.body", "body": content, "more_body": False}]


def _add_headers(start: Message, headers: Mapping[str, str]) -> None:
    known = {"X-GitHub-Request-Id": uuid4().hex[:16].upper(), "X-GitHub-Media-Type": "github.v3; format=json"}
    more = headers if any(name == b"x-github-request-id" for name, _ in start["headers"]) else {**known, **headers}
    start["headers"] = [*start["headers"], *((name.lower().encode(), value.encode()) for name, value in more.items())]


def _text_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
