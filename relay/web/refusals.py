"""What a route says about its own refusals, for the description of the API: `responses=refuses(ConflictError(...))`;
and about an answer that has no model: `answers("...", "text/plain") | refuses(...)`.

An error is named as it is raised, with its sentence and its next step as an example. What every route of its kind
refuses (a token that lacks, a body that is too large, a thing that does not exist) is added by `relay.web.description`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relay.errors import RelayError
from relay.hud.errors import HudError

#: Where the description finds them again; nothing of this is in the finished document.
MARK = "x-refusals"

Responses = dict[int | str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status with what is said: a sentence, of callbacks sometimes more. `code` and `hint` are for the surfaces that
    have them."""

    status: int
    message: object
    hint: str = ""
    code: str = ""


def answers(example: object, media: str = "application/json", **schema: Any) -> Responses:
    """The `responses` of a route whose answer FastAPI cannot describe: text, a file, an object without a model."""
    return {200: {"content": {media: {"schema": schema or {"type": "string"}, "example": example}}}}


def refuses(*errors: RelayError | HudError | Refusal) -> Responses:
    """The `responses` of a route that may answer with these errors."""
    found: Responses = {}
    for error in errors:
        found.setdefault(error.status, {MARK: []})[MARK].append(refusal_of(error))
    return found


def refusal_of(error: RelayError | HudError | Refusal) -> Refusal:
    """The error as an example."""
    if isinstance(error, RelayError):
        return Refusal(error.status, error.message, error.hint, error.code)
    if isinstance(error, HudError):
        return Refusal(error.status, error.message)
    return error


def taken(response: Mapping[str, Any]) -> tuple[Refusal, ...]:
    """What `refuses` put into a response. FastAPI has made plain values of it."""
    return tuple(Refusal(**told) for told in response.get(MARK, ()))
