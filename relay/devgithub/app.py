"""The local GitHub as a web application: its routes behind the gate."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from relay.devgithub import (
    routes_actions,
    routes_apps,
    routes_checks,
    routes_content,
    routes_graphql,
    routes_issuer,
    routes_steering,
)
from relay.devgithub.gate import Gate, refusal_body
from relay.devgithub.records import RefusedError
from relay.devgithub.state import DevGitHub


def create_devgithub(state: DevGitHub) -> FastAPI:
    """The application over a state. It listens to whoever reaches it, so serve it on loopback only."""
    app = FastAPI(title="GitHub on this machine", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.devgithub = state
    for routes in (routes_apps, routes_checks, routes_actions, routes_content, routes_graphql, routes_issuer):
        app.include_router(routes.router)
    app.include_router(routes_steering.router)
    app.include_router(routes_content.pages)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_middleware(Gate, state=state)
    return app


def _refused(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RefusedError):
        raise error
    return JSONResponse(refusal_body(error), error.status, error.headers)


def _unknown(_: Request, error: Exception) -> JSONResponse:
    """GitHub knows no 405: a wrong method is a page that is not there."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    refused = RefusedError(404 if status in (404, 405) else status, "Not Found")
    return JSONResponse(refusal_body(refused), refused.status)


def _unreadable(_: Request, error: Exception) -> JSONResponse:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    broken = any(problem["type"] == "json_invalid" for problem in problems)
    refused = RefusedError(400, "Problems parsing JSON") if broken else RefusedError(422, "Invalid request.")
    return JSONResponse(refusal_body(refused), refused.status)
