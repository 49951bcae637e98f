"""Turns faults into answers: `ApiError` under /api/v1, `{"detail": ...}` for GitHub, `{"error": ...}` for readers and
forwarders of results, a page for people. Who has to sign in to see a page is sent there.

Owns the shape of errors only; the sentences come from `relay.errors`. Never echoes a request's body.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlencode

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from relay.context import context_of
from relay.errors import RelayError
from relay.hud.errors import HudError
from relay.views import ApiError
from relay.web.failure_page import failure_page
from relay.web.rendering import PAGES
from relay.web.visit import visit_of

_log = structlog.get_logger(__name__)

PROBLEM_TYPE = "application/problem+json"
SIGN_IN = "/sign-in"
#: What programs ask; a person who has no token there is told so, and not led to the sign-in.
_API = ("/api/", "/metrics")
_GITHUB = "/github/"
_HUD = ("/api/crcr/", "/api/clickhouse/")

_PROBLEMS_SHOWN = 5
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_HINTS = {
    404: "GET /api/v1/openapi.json lists the paths there are.",
    405: "GET /api/v1/openapi.json lists the methods of each path.",
    413: "Send the content in smaller parts.",
}
_NO_JSON = ApiError(
    code="invalid_request",
    message="The body is not JSON in UTF-8.",
    hint="GET /api/v1/openapi.json describes the form.",
)
#: Pages are for people, who did not choose a method or a size.
_PAGE_SENTENCES = {404: ("There is no such page.", "The address may be mistyped or of an older version.")}
#: What readers of results know these by (crcr-protocol 1.6).
_HUD_SENTENCES = {405: "Method not allowed", 413: "Payload exceeds 2MB limit"}


def install_error_handlers(app: FastAPI) -> None:
    """Answer every fault of this application in the shape of its surface."""
    app.add_exception_handler(RelayError, _relay_error)
    app.add_exception_handler(HudError, _hud_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OperationalError, _database)
    app.add_exception_handler(PoolTimeoutError, _no_connection_free)
    app.add_exception_handler(Exception, _bug)


def error_response(request: Request, status: int, error: ApiError) -> Response:
    """An error in the shape that readers of this path expect."""
    path = request.url.path
    if path.startswith(_HUD):
        return JSONResponse({"error": _HUD_SENTENCES.get(status, error.message)}, status)
    if path.startswith(_API):
        told = {"request_id": visit_of(request.scope).request_id, "title": HTTPStatus(status).phrase, "status": status}
        return JSONResponse(error.model_copy(update=told).model_dump(), status, media_type=PROBLEM_TYPE)
    if path.startswith(_GITHUB):
        return JSONResponse({"detail": error.message}, status)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return failure_page(error.message, error.hint, status)
    heading, advice = _PAGE_SENTENCES.get(status, ("", "")) if error.code in _CODES.values() else ("", "")
    heading, advice = heading or error.message, advice or error.hint
    return PAGES.render("error.html", context_of(request), status=status, nav="", heading=heading, advice=advice)


def _relay_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, RelayError):
        raise error
    answer = ApiError(code=error.code, message=error.message, hint=error.hint)
    if error.status == HTTPStatus.UNAUTHORIZED and _is_page(request):
        return RedirectResponse(f"{SIGN_IN}?{urlencode({'next': _page_behind(request)})}", HTTPStatus.SEE_OTHER)
    response = error_response(request, error.status, answer)
    if error.status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _is_page(request: Request) -> bool:
    return not request.url.path.startswith((*_API, _GITHUB))


def _page_behind(request: Request) -> str:
    """Where to go on after the sign-in. The address of a form is below that of its page."""
    if request.method == "POST":
        return request.url.path.rpartition("/")[0] or "/"
    return visit_of(request.scope).address


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
    if status == HTTPStatus.BAD_REQUEST and request.url.path.startswith(_API):
        # FastAPI says so of a body that is no text, or nested without end; of any other that is no JSON it says 422.
        return error_response(request, 422, _NO_JSON)
    answer = ApiError(code=_CODES.get(status, "http_error"), message=str(error.detail), hint=_HINTS.get(status, ""))
    response = error_response(request, status, answer)
    response.headers.update(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(methods_of(request.app, request.scope))
    return response


def methods_of(app: FastAPI, scope: Scope) -> list[str]:
    """The methods that an address has. Each route knows but its own; of routes that fit, the one that names the address
    most exactly counts."""
    found: dict[str, set[str]] = {}
    for route in iter_route_contexts(app.routes):
        if route.matches(scope)[0] is not Match.NONE:
            found.setdefault(str(route.path), set()).update(route.methods or ())
    return sorted(found[min(found, key=lambda path: path.count("{"))]) if found else []


def _database(request: Request, error: Exception) -> Response:
    _log.error("database_unavailable", path=request.url.path, fault=type(error).__name__)
    message, hint = "The record cannot be reached just now.", "Try again in a moment; relay doctor checks the database."
    return _try_again(request, message, hint)


def _no_connection_free(request: Request, _error: Exception) -> Response:
    _log.error("database_connections_used_up", path=request.url.path)
    message = "All connections of this process to its database have been in use for too long."
    hint = "Try again in a moment; when it stays so, look for slow statements in the database, or start more replicas."
    return _try_again(request, message, hint)


def _try_again(request: Request, message: str, hint: str) -> Response:
    answer = ApiError(code="database_unavailable", message=message, hint=hint)
    response = error_response(request, 503, answer)
    response.headers["Retry-After"] = "2"
    return response


def _bug(request: Request, error: Exception) -> Response:
    visit = visit_of(request.scope)
    _log.error("request_failed", path=request.url.path, fault=type(error).__name__, request_id=visit.request_id)
    answer = ApiError(
        code="internal",
        message="The relay failed on this request.",
        hint=f"Its log has the cause ({type(error).__name__}); please report it.",
    )
    response = error_response(request, 500, answer)
    # This one is answered outside of all middleware.
    for name, value in visit.headers.items():
        response.headers.setdefault(name, value)
    return response
