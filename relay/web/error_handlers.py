"""Turns faults into answers: `ApiError` under /api/v1, `{"detail": ...}` for GitHub, `{"error": ...}` for readers and
forwarders of results, plain text for pages.

Owns the shape of errors only; the sentences come from `relay.errors`. Never echoes a request's body.
"""

from __future__ import annotations

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from relay.errors import RelayError
from relay.hud.errors import HudError
from relay.views import ApiError

_log = structlog.get_logger(__name__)

_API = "/api/"
_GITHUB = "/github/"
_HUD = ("/api/crcr/", "/api/clickhouse/")

_PROBLEMS_SHOWN = 5
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_HINTS = {
    404: "GET /api/v1/openapi.json lists the paths there are.",
    405: "GET /api/v1/openapi.json lists the methods of each path.",
    413: "Send the content in smaller parts.",
}
#: What readers of results know these by (crcr-protocol 1.6).
_HUD_SENTENCES = {405: "Method not allowed", 413: "Payload exceeds 2MB limit"}


def install_error_handlers(app: FastAPI) -> None:
    """Answer every fault of this application in the shape of its surface."""
    app.add_exception_handler(RelayError, _relay_error)
    app.add_exception_handler(HudError, _hud_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OperationalError, _database)
    app.add_exception_handler(Exception, _bug)


def error_response(request: Request, status: int, error: ApiError) -> Response:
    """An error in the shape that readers of this path expect."""
    path = request.url.path
    if path.startswith(_HUD):
        return JSONResponse({"error": _HUD_SENTENCES.get(status, error.message)}, status)
    if path.startswith(_API):
        return JSONResponse(error.model_dump(), status)
    if path.startswith(_GITHUB):
        return JSONResponse({"detail": error.message}, status)
    return PlainTextResponse("\n".join(line for line in (error.message, error.hint) if line), status)


def _relay_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, RelayError):
        raise error
    answer = ApiError(code=error.code, message=error.message, hint=error.hint)
    response = error_response(request, error.status, answer)
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _hud_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HudError):
        raise error
    return JSONResponse({"error": error.message}, error.status)


def _invalid(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    problems = [f"{'.'.join(map(str, found['loc']))}: {found['msg']}" for found in error.errors()[:_PROBLEMS_SHOWN]]
    answer = ApiError(
        code="invalid_request",
        message="The request does not have the expected form: " + "; ".join(problems)[:2_000],
        hint="GET /api/v1/openapi.json describes the form.",
    )
    return error_response(request, 422, answer)


def _http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    status = error.status_code
    answer = ApiError(code=_CODES.get(status, "http_error"), message=str(error.detail), hint=_HINTS.get(status, ""))
    response = error_response(request, status, answer)
    response.headers.update(error.headers or {})
    return response


def _database(request: Request, error: Exception) -> Response:
    _log.error("database_unavailable", path=request.url.path, fault=type(error).__name__)
    answer = ApiError(
        code="database_unavailable",
        message="The record cannot be reached just now.",
        hint="Try again in a moment; relay doctor checks the database.",
    )
    response = error_response(request, 503, answer)
    response.headers["Retry-After"] = "2"
    return response


def _bug(request: Request, error: Exception) -> Response:
    answer = ApiError(
        code="internal",
        message="The relay failed on this request.",
        hint=f"Its log has the cause ({type(error).__name__}); please report it.",
    )
    return error_response(request, 500, answer)
