"""A span for each request, in the trace of whoever asks. A plain ASGI middleware, there only while spans are sent."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relay.intake.deliveries import DELIVERY_ID_CAP
from relay.runs.spans import delivery_traceparent
from relay.trail.tracing import HEADER, name_span, span, usable_traceparent

_WEBHOOK = "/github/webhook"
_DELIVERY_HEADER = "X-GitHub-Delivery"
#: Asked every few seconds by machines.
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})


class TracingMiddleware:
    """Opens a span around each request but probes. A webhook belongs to its delivery's trace."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _PROBES:
            await self._app(scope, receive, send)
            return
        method, told = scope["method"], list[int]()

        async def send_and_see(message: Message) -> None:
            if message["type"] == "http.response.start":
                told.append(message["status"])
            await send(message)

        with span(method, _parent(scope), **{"http.request.method": method}):
            try:
                await self._app(scope, receive, send_and_see)
            finally:
                route = getattr(scope.get("route"), "path", "other")
                status = told[0] if told else 500
                name_span(f"{method} {route}", **{"http.route": route, "http.response.status_code": status})


def _parent(scope: Scope) -> str:
    headers = Headers(scope=scope)
    delivery = headers.get(_DELIVERY_HEADER, "")
    if scope["path"] == _WEBHOOK and 0 < len(delivery) <= DELIVERY_ID_CAP:
        return delivery_traceparent(delivery)
    return usable_traceparent(headers.get(HEADER, ""))
