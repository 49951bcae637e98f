"""An external HUD on a socket of this machine: it keeps what it is sent, and can be told to fail."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

KEY = "key-of-the-external-hud"


@dataclass
class Hud:
    """`posts` are the accepted envelopes, `tries` all that came, `answers` the statuses of the next ones (200 when it
    is empty); a status of 0 drops the connection without an answer."""

    posts: list[Mapping[str, Any]] = field(default_factory=list)
    tries: list[Mapping[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    answers: deque[int] = field(default_factory=deque)
    #: Answered to all, once `answers` is empty.
    always: int = 200

    def reset(self) -> None:
        """Forget everything."""
        self.posts.clear()
        self.tries.clear()
        self.headers.clear()
        self.answers.clear()
        self.always = 200


class _Dropped(Response):
    """Promises a body and sends none: the server then closes the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})


def hud_application(hud: Hud) -> FastAPI:
    """The endpoint, under the path that the relay calls."""
    app = FastAPI()

    @app.post("/api/crcr/results")
    async def results(request: Request) -> Response:
        envelope = await request.json()
        hud.tries.append(envelope)
        hud.headers.append(dict(request.headers))
        status = hud.answers.popleft() if hud.answers else hud.always
        if status == 0:
            return _Dropped()
        if status == 200:
            hud.posts.append(envelope)
        return JSONResponse({"ok": status == 200}, status)

    return app
