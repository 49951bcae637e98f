"""How an operation refuses: what every one of its kind may answer, and its own, in the form of its surface.

The forms are those of `relay.web.error_handlers`: a problem under `/api/v1`, `{"error": ...}` where readers of results
ask, `{"detail": ...}` where GitHub and backends call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from relay.errors import ForbiddenError, NotFoundError, TooLargeError, UnauthorizedError
from relay.views import ApiError
from relay.web.description.doors import Door
from relay.web.error_handlers import PROBLEM_TYPE
from relay.web.refusals import MARK, Refusal, refusal_of, taken

_REQUEST_ID = "5073f74e2457c787"
_SENTENCES = {
    400: "The request makes no sense as it is",
    401: "A token is missing, or is not valid here",
    403: "The token is known, and not for this",
    404: "The record has nothing under this name",
    409: "It does not fit the present state",
    413: "The body is larger than its cap",
    422: "The request does not have the expected form",
    429: "Too many requests; `Retry-After` says when to come back",
    500: "The relay failed on this request; its log has the cause",
    502: "What the relay asks in turn has failed",
    503: "The record cannot be reached just now",
    504: "What the relay asks in turn did not answer in time",
}
_NOTHING = ("There is no such thing on record.", "The lists of the API show what there is.")
#: By what an address names last.
_UNKNOWN = {
    "run_id": ("There is no run 128.", "GET /api/v1/runs shows the runs there are."),
    "shard_id": ("There is no shard 512.", "Ask for a lease to get a shard."),
    "audit_id": ("There is no audit 120.", "GET /api/v1/audits shows the audits there are."),
    "letter_id": ("There is no delivery 96.", "GET /api/v1/outbox shows the deliveries there are."),
    "row_id": ("There is no webhook 41.", "GET /api/v1/inbox shows those that came."),
    "token_id": ("There is no token 3.", "GET /api/v1/tokens?every=true shows the tokens there are."),
    "upgrade_id": ("There is no upgrade report 2.", "GET /api/v1/upgrades shows the reports there are."),
    "name": ("There is no backend acme/torch-acme.", "GET /api/v1/backends shows those there are."),
    "number": ("No run of pull request 4711 is on record.", "GET /api/v1/runs shows the runs there are."),
    "sha": ("No run of commit 1f1f1f1f is on record.", "GET /api/v1/runs shows the runs there are."),
}
_INVALID = Refusal(
    422,
    "The request does not have the expected form: query.limit: Input should be less than or equal to 500",
    "GET /api/v1/openapi.json describes the form.",
    "invalid_request",
)
_FAILED = Refusal(
    500, "The relay failed on this request.", "Its log has the cause (KeyError); please report it.", "internal"
)
_AWAY = Refusal(
    503,
    "The record cannot be reached just now.",
    "Try again in a moment; relay doctor checks the database.",
    "database_unavailable",
)


def add_refusals(path: str, operation: dict[str, Any], door: Door | None) -> None:
    """Put every refusal into the operation's responses."""
    responses: dict[str, dict[str, Any]] = operation["responses"]
    found: dict[int, list[Refusal]] = {}
    own = [one for response in responses.values() for one in taken(response)]
    said = {one.status for one in own}
    usual = [one for one in _usual(path, operation, door) if one.status not in said]
    for one in (*own, *usual):
        found.setdefault(one.status, []).append(one)
    for key in [key for key, response in responses.items() if MARK in response or key == "422"]:
        del responses[key]
    for status, refusals in sorted(found.items()):
        responses[str(status)] = {
            "description": _SENTENCES[status],
            "headers": dict(_headers(status)),
            "content": _content(path, refusals),
        }


def _usual(path: str, operation: Mapping[str, Any], door: Door | None) -> Iterator[Refusal]:
    if door is not None:
        yield refusal_of(
            UnauthorizedError(
                f"The token is missing; this takes one of scope {door.scope}.", "Send 'Authorization: Bearer <token>'."
            )
        )
        yield refusal_of(
            ForbiddenError(
                f"The token may not do this; it takes one of scope {door.scope}.",
                f"`relay token create NAME --scope {door.scope}` makes one.",
            )
        )
    parameters = operation.get("parameters", ())
    named = [parameter["name"] for parameter in parameters if parameter["in"] == "path"]
    if named:
        yield refusal_of(NotFoundError(*_UNKNOWN.get(named[-1], _NOTHING)))
    if "requestBody" in operation:
        yield refusal_of(TooLargeError("The body is larger than 65536 bytes.", "Send the content in smaller parts."))
    if not path.startswith("/github/"):
        if parameters or "requestBody" in operation:
            yield _INVALID
        yield _FAILED
    yield _AWAY


def _headers(status: int) -> Iterator[tuple[str, dict[str, str]]]:
    yield "X-Request-Id", {"$ref": "#/components/headers/X-Request-Id"}
    if status == HTTPStatus.UNAUTHORIZED:
        yield "WWW-Authenticate", {"$ref": "#/components/headers/WWW-Authenticate"}
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        yield "Retry-After", {"$ref": "#/components/headers/Retry-After"}


def _content(path: str, refusals: Iterable[Refusal]) -> dict[str, Any]:
    if path.startswith("/api/v1/"):
        examples = {one.code: {"value": _problem(one)} for one in refusals}
        return {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/ApiError"}, "examples": examples}}
    word = "detail" if path.startswith("/github/") else "error"
    schema = {"type": "object", "required": [word], "properties": {word: {}}}
    if word == "error":
        schema["properties"] = {word: {"type": "string"}}
    examples = {f"example {number}": {"value": {word: one.message}} for number, one in enumerate(refusals, 1)}
    return {"application/json": {"schema": schema, "examples": examples}}


def _problem(refusal: Refusal) -> dict[str, Any]:
    return ApiError(
        code=refusal.code,
        message=str(refusal.message),
        hint=refusal.hint,
        request_id=_REQUEST_ID,
        title=HTTPStatus(refusal.status).phrase,
        status=refusal.status,
    ).model_dump()
