"""The request that is being served: its id, who is signed in, and the headers that every answer carries.

Pages are rendered far from the request, so what they say about their reader stands in a context variable, which the
thread pool hands on to handlers. A request id of the caller is taken over where it is one; it ties together the answer,
the log and the audit log. Source of the headers: https://owasp.org/www-project-secure-headers/
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relay.access.principals import Principal

REQUEST_ID_HEADER: Final = "X-Request-Id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)
_IN_SCOPE = "relay.visit"

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
#: Nothing but our own files, no frame around us, no form to elsewhere.
_PAGE_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
#: An answer for programs shows nothing and loads nothing, should a browser open it.
_API_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_FOR_PROGRAMS = ("/api/", "/github/")
_A_YEAR_OF_HTTPS = "max-age=31536000"


@dataclass
class Visit:
    """`principal` is who is signed in, where that was asked; `form_token` goes into every form of a page for them;
    `address` is where a reader can come back to, with its query."""

    request_id: str = ""
    address: str = "/"
    headers: Mapping[str, str] = field(default_factory=dict)
    principal: Principal | None = None
    form_token: str = ""


_current: ContextVar[Visit] = ContextVar("relay_visit")


def current_visit() -> Visit:
    """The visit that is being served; a blank one outside of any."""
    return _current.get(None) or Visit()


def visit_of(scope: Scope) -> Visit:
    """The visit of a request, also after it has left the middleware; a blank one where that was not passed."""
    found = scope.get(_IN_SCOPE)
    return found if isinstance(found, Visit) else Visit()


class VisitMiddleware:
    """Opens a visit for each request, and puts its headers on the answer."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self._app = app
        self._https = https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope).get(REQUEST_ID_HEADER, ""))
        headers = _headers(scope["path"], request_id, https=self._https)
        visit = Visit(request_id, _address(scope), headers)
        scope[_IN_SCOPE] = visit

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in visit.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        token = _current.set(visit)
        try:
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                await self._app(scope, receive, send_with_headers)
        finally:
            _current.reset(token)


def _request_id(given: str) -> str:
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def _address(scope: Scope) -> str:
    """What is only sent to cannot be come back to."""
    if scope["method"] != "GET":
        return "/"
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"]) + (f"?{query}" if query else "")


def _headers(path: str, request_id: str, *, https: bool) -> dict[str, str]:
    policy = _API_POLICY if path.startswith(_FOR_PROGRAMS) else _PAGE_POLICY
    headers = {**_ALWAYS, "Content-Security-Policy": policy, REQUEST_ID_HEADER: request_id}
    return headers | {"Strict-Transport-Security": _A_YEAR_OF_HTTPS} if https else headers
