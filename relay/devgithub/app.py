"""The local GitHub as a web application: its routes behind the gate."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from relay.devgithub import (
    routes_actions,
    routes_apps,
    routes_checks,
    routes_comments,
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
    app = FastAPI(title="GitHub on this machine", openapi_url=None, docs_url=None, redoc_url=None, routes=_routes())
    app.state.devgithub = state
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_middleware(Gate, state=state)
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Once for all states of a process: FastAPI keeps in them what it makes of their signatures."""
    together = APIRouter()
    for room in _ROOMS:
        together.include_router(room.router, dependencies=[Depends(_only_known)])
    together.include_router(routes_content.pages)
    return together.routes


def _only_known(request: Request) -> None:
    """Refuse a query parameter that no code reads: an ignored one would answer another question than was asked.

    Raises:
        RefusedError: 501, which GitHub never says.
    """
    known = _known_parameters(request.scope["route"].path_format, request.method)
    unknown = [] if known is None else sorted(set(request.query_params) - known)
    if unknown:
        raise RefusedError(501, f"The local GitHub does not know the parameter {', '.join(unknown)} here.")


_ROOMS = (
    *(routes_apps, routes_checks, routes_actions, routes_content, routes_comments),
    *(routes_graphql, routes_issuer, routes_steering),
)


def _known_parameters(path: str, method: str) -> set[str] | None:
    operation = _operations().get(path, {}).get(method.lower())
    if operation is None:
        return None
    return {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}


@cache
def _operations() -> dict[str, Any]:
    """What our own routes take, in FastAPI's words. The same for every state, and needed only by some requests."""
    described = FastAPI()
    for room in _ROOMS:
        described.include_router(room.router)
    paths: dict[str, Any] = described.openapi()["paths"]
    return paths


def _refused(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RefusedError):
        raise error
    return JSONResponse(refusal_body(error), error.status, error.headers)


def _unknown(_: Request, error: Exception) -> JSONResponse:
    """No route. GitHub may have one: to say "not found" for it would be to say that the thing is not there."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    said = "The local GitHub has no such operation; the real one may have it."
    refused = RefusedError(501 if status in (404, 405) else status, said)
    return JSONResponse(refusal_body(refused), refused.status)


def _unreadable(_: Request, error: Exception) -> JSONResponse:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    broken = any(problem["type"] == "json_invalid" for problem in problems)
    said = "; ".join(f"{'.'.join(map(str, problem['loc'][1:]))}: {problem['msg']}" for problem in problems)
    refused = RefusedError(400, "Problems parsing JSON") if broken else RefusedError(422, f"Invalid request.\n\n{said}")
    return JSONResponse(refusal_body(refused), refused.status)
