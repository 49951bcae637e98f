"""Tokens that a stand-in refuses in the ways there are, so that a test of any command can ask for each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from relay.cli.exits import ExitCode
from relay.views import ApiError

Next = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Refusal:
    """An answer, the code that a command ends with, and a part of what it says to do next."""

    status: int
    exits: ExitCode
    next_step: str
    error: ApiError | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = "<html>not the relay</html>"


def _told(code: str, message: str, hint: str = "") -> ApiError:
    return ApiError(code=code, message=message, hint=hint)


#: By the token that asks for it: what the relay says, and what stands before a relay says.
REFUSALS = {
    "refused-as-a-wrong-token": Refusal(
        401, ExitCode.LOGIN, "set RELAY_OPERATOR_TOKEN", _told("bad_token", "The token is not accepted.")
    ),
    "refused-as-a-token-of-another-scope": Refusal(
        *(403, ExitCode.LOGIN, "Ask for a token"),
        _told("missing_scope", "This needs a token of scope admin.", "Ask for a token of that scope."),
    ),
    "refused-as-not-found": Refusal(404, ExitCode.FAILED, "", _told("not_found", "There is no such thing here.")),
    "refused-as-a-conflict": Refusal(
        409, ExitCode.FAILED, "Wait for it.", _told("not_now", "It is not finished yet.", "Wait for it.")
    ),
    "refused-as-of-a-wrong-form": Refusal(
        *(422, ExitCode.FAILED, "openapi.json"),
        _told("invalid_request", "The request has another form.", "GET /api/v1/openapi.json describes the form."),
    ),
    "refused-as-too-many": Refusal(
        *(429, ExitCode.FAILED, "try again in 7 s", _told("too_many", "Too many requests."), {"Retry-After": "7"}),
    ),
    "refused-as-a-fault-of-the-relay": Refusal(
        500,
        ExitCode.FAILED,
        "Its log",
        _told("internal", "The relay failed on this request.", "Its log has the cause."),
    ),
    "refused-as-without-a-database": Refusal(
        *(503, ExitCode.FAILED, "try again in 2 s"),
        _told("database_unavailable", "The record cannot be reached just now."),
        {"Retry-After": "2"},
    ),
    "refused-by-a-sign-in-before-it": Refusal(401, ExitCode.LOGIN, "something before the relay"),
    "refused-by-a-proxy-without-a-relay": Refusal(502, ExitCode.FAILED, "try again in a moment"),
    "refused-by-a-proxy-that-counts": Refusal(429, ExitCode.FAILED, "try again in 30 s", headers={"Retry-After": "30"}),
    "refused-by-a-move": Refusal(
        301, ExitCode.FAILED, "name that address", headers={"Location": "https://relay.invalid/"}
    ),
    "refused-by-another-service": Refusal(404, ExitCode.FAILED, "check the address"),
}


def refuse_by_token(app: FastAPI) -> None:
    """Answer each request that shows one of these tokens so."""

    @app.middleware("http")
    async def refuse(request: Request, call_next: Next) -> Response:
        refusal = REFUSALS.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if refusal is None:
            return await call_next(request)
        headers = {**refusal.headers, "X-Request-Id": "request-9"}
        if refusal.error is None:
            return Response(refusal.text, refusal.status, headers, "text/html")
        return JSONResponse(refusal.error.model_dump(), refusal.status, headers)
