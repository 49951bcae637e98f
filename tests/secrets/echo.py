"""A server that quotes what it is asked with, keys and all, in an error: GitHub, HUD, model and upstream in one.
A collector of spans as well, which is content.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

#: By the beginning of the address.
_STATUS = {"hud": 400, "model": 500, "upstream": 403, "github": 422, "collector": 200}


@dataclass
class Echo:
    """What each part was asked with, in one text."""

    heard: dict[str, str] = field(default_factory=dict)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.api_route("/{part}/{path:path}", methods=["GET", "POST", "PATCH", "PUT"])
        async def answer(part: str, request: Request) -> Response:
            said = json.dumps(
                {"headers": dict(request.headers), "body": (await request.body()).decode(errors="replace")}
            )
            self.heard[part] = self.heard.get(part, "") + said
            if part == "upstream" and "authorization" not in request.headers:
                return Response(status_code=401, headers={"WWW-Authenticate": 'Basic realm="upstream"'})
            return JSONResponse({"message": said}, _STATUS.get(part, 500))

        return app
