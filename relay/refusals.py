"""How a relay, or what stands before it, refuses a request: as failures that say what to do next.

Owns what a status means to a program. It sends nothing; `relay.client` does.
"""

from __future__ import annotations

import httpx
from pydantic import ValidationError

from relay.failures import Failure
from relay.views import ApiError

REQUEST_ID = "x-request-id"
_LOGIN_HINT = "set RELAY_OPERATOR_TOKEN to the operator token of the service; `relay token show` tells where it is kept"
_BEFORE_HINT = (
    "something before the relay wants a sign-in of its own; ask who runs it, or name another address with --url"
)
VERSION_HINT = "check the address, and compare `relay version` here and there"


class Unreachable(Failure):
    """No answer came from the service: wrong address, not running, or the connection broke."""

    code = "unreachable"


class NotFound(Failure):
    """The service answers, and does not know what was asked for."""

    code = "not_found"


class Unauthorized(Failure):
    """The service wants the operator token, or does not accept the one it got."""

    code = "unauthorized"
    needs_login = True


class Conflict(Failure):
    """The request does not fit the state things are in."""

    code = "conflict"


class Refused(Failure):
    """Any other refusal the service explained."""

    code = "refused"


class Busy(Refused):
    """The service asks for patience: too many requests, or it is not ready."""

    code = "busy"


class BadReply(Failure):
    """The answer is not one of ours: another service at this address, or another version."""

    code = "bad_reply"


_KINDS: dict[int, type[Failure]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    409: Conflict,
    429: Busy,
    503: Busy,
}
_HINTS: dict[type[Failure], str] = {
    Unauthorized: _LOGIN_HINT,
    Busy: "try again in a moment",
    NotFound: VERSION_HINT,
    Conflict: "look at how things stand, and try again",
    Refused: VERSION_HINT,
}


def refusal_of(reply: httpx.Response) -> Failure:
    """The failure that an answer without success stands for."""
    kind = _KINDS.get(reply.status_code, Refused)
    try:
        error = ApiError.model_validate_json(reply.content)
    except ValidationError:
        return _unexplained(reply)
    hint = error.hint
    if kind is Busy and "retry-after" in reply.headers:
        hint = f"{hint} {_patience(reply)}".strip()
    failure = kind(error.message, hint or _HINTS.get(kind, ""), code=error.code)
    failure.request_id = reply.headers.get(REQUEST_ID, "")
    return failure


def _unexplained(reply: httpx.Response) -> Failure:
    """What to say of a refusal in words that are none of the relay's: a proxy's, or another service's."""
    status, said = reply.status_code, f"{reply.request.url} answered {reply.status_code}"
    if status in {401, 403}:
        return Unauthorized(f"{said}, and not in the relay's words", _BEFORE_HINT)
    if reply.is_redirect:
        return BadReply(f"{said}: it is at {reply.headers.get('location', '')[:200]}", "name that address with --url")
    if status in {429, 502, 503, 504}:
        starting = "" if status == 429 else "; the relay may be starting"
        return Busy(f"{said} {reply.reason_phrase}{starting}", _patience(reply))
    return BadReply(f"{said} without an explanation", VERSION_HINT)


def _patience(reply: httpx.Response) -> str:
    seconds = reply.headers.get("retry-after", "")
    return f"try again in {seconds} s" if seconds.isdecimal() and len(seconds) < 6 else "try again in a moment"
