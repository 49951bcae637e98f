"""Measures how long requests take, by route and status. A plain ASGI middleware that changes nothing."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relay.metrics.exposition import ProcessFigures

#: Addresses that no route has are one: nobody may fill the memory with names.
_NO_ROUTE = "other"
_STREAM = b"text/event-stream"


class MeasuringMiddleware:
    """Tells `figures` of each request when its answer begins."""

    def __init__(self, app: ASGIApp, *, figures: ProcessFigures) -> None:
        self._app = app
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        told: list[tuple[int, bool]] = []

        async def send_and_see(message: Message) -> None:
            if message["type"] == "http.response.start":
                kinds = [value for name, value in message["headers"] if name.lower() == b"content-type"]
                told.append((message["status"], any(kind.startswith(_STREAM) for kind in kinds)))
            await send(message)

        try:
            await self._app(scope, receive, send_and_see)
        finally:
            status, streams = told[0] if told else (500, False)
            if not streams:
                route = getattr(scope.get("route"), "path", _NO_ROUTE)
                self._figures.request(scope["method"], route, status, time.perf_counter() - begun)
