"""Makes the whole document: FastAPI's own, completed operation by operation. See the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts

from relay.views import ApiError
from relay.web.description.doors import door_of, schemes
from relay.web.description.refusing import add_refusals
from relay.web.description.showing import command, known_examples, show_examples
from relay.web.description.tags import SUMMARY, TAGS

_LEFTOVERS = ("HTTPValidationError", "ValidationError")
_HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {
        "description": "Finds the request in the relay's log and in the audit log; the caller's own where it sent one",
        "schema": {"type": "string"},
    },
    "ETag": {
        "description": "Names this answer: sent back as `If-None-Match`, it is answered 304 while nothing has changed",
        "schema": {"type": "string"},
    },
    "Link": {
        "description": 'The address of the next page, as in `next`: `<...>; rel="next"`. Absent on the last one',
        "schema": {"type": "string"},
    },
    "WWW-Authenticate": {"description": "How to say who one is", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds after which to try again", "schema": {"type": "integer", "minimum": 0}},
}
_BY_FASTAPI = "Successful Response"
_DONE = {"200": "What was asked for", "201": "What was made"}
_IF_NONE_MATCH: dict[str, Any] = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "An `ETag` that the reader has; answered 304 without a body while it still fits",
    "schema": {"type": "string"},
}


class DescribedApi(FastAPI):
    """An application whose document is complete. `cookie` names the cookie of a sign-in."""

    def __init__(self, *, reading_takes_token: bool, cookie: str, **settings: Any) -> None:
        super().__init__(description=SUMMARY, openapi_tags=[dict(tag) for tag in TAGS], **settings)
        self._reading_takes_token = reading_takes_token
        self._cookie = cookie
        self._complete: dict[str, Any] | None = None

    def openapi(self) -> dict[str, Any]:
        """The document; made anew when routes were added."""
        found = super().openapi()
        if found is not self._complete:
            self._fill(found)
            self._complete = found
        return found

    def _fill(self, document: dict[str, Any]) -> None:
        components = document.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        schemas["ApiError"] = ApiError.model_json_schema()
        for leftover in _LEFTOVERS:
            schemas.pop(leftover, None)
        components["headers"] = _HEADERS
        components["securitySchemes"] = schemes(self._cookie)
        known = known_examples()
        for path, method, dependant in self._operations():
            operation = document["paths"].get(path, {}).get(method)
            if operation is None:
                continue
            door = door_of(path, dependant, reading_takes_token=self._reading_takes_token)
            if door is not None or dependant_is_guarded(operation):
                operation["security"] = door.security if door else []
            show_examples(operation, known)
            add_refusals(path, operation, door)
            _complete_answers(path, method, operation)
            operation["x-codeSamples"] = [
                {"lang": "Shell", "label": "curl", "source": command(method.upper(), path, operation)}
            ]

    def _operations(self) -> Iterator[tuple[str, str, Dependant]]:
        for route in iter_route_contexts(self.routes):
            dependant = getattr(route, "dependant", None)
            if isinstance(dependant, Dependant):
                for method in route.methods or ():
                    yield str(getattr(route, "path_format", route.path)), method.lower(), dependant


def dependant_is_guarded(operation: dict[str, Any]) -> bool:
    """Whether FastAPI saw a token being read, which under the settings may open nothing."""
    return "security" in operation


def _complete_answers(path: str, method: str, operation: dict[str, Any]) -> None:
    """Say in words what an answer is, and what `relay.web.visit`, `.paging` and `.revalidation` add to it."""
    named = method == "get" and path.startswith("/api/")
    for status, response in operation["responses"].items():
        if response.get("description") == _BY_FASTAPI:
            response["description"] = _DONE.get(status, _DONE["200"])
        for body in response.get("content", {}).values():
            # FastAPI writes a stream's in the words of OpenAPI 3.2 into a document of 3.1.
            if body.pop("itemSchema", None) is not None:
                body["schema"] = {"type": "string"}
        headers = response.setdefault("headers", {})
        headers["X-Request-Id"] = {"$ref": "#/components/headers/X-Request-Id"}
        if named and status == "200" and "text/event-stream" not in response.get("content", {}):
            headers["ETag"] = {"$ref": "#/components/headers/ETag"}
        if status == "200" and any(one["name"] == "cursor" for one in operation.get("parameters", ())):
            headers["Link"] = {"$ref": "#/components/headers/Link"}
    if named and "ETag" in operation["responses"].get("200", {}).get("headers", {}):
        operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
        operation["responses"]["304"] = {
            "description": "The reader has this answer already",
            "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", "ETag")},
        }
