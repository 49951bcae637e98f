"""What readers get of tokens and of the audit log: shared by the API, its client and the command line.

No view holds a digest, and only `NewToken`, which is answered once, holds a token.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import ConfigDict
from pydantic.config import JsonDict

from relay.views import Page, View

_TOKEN_EXAMPLE: JsonDict = {
    "id": 3,
    "name": "nightly job",
    "scope": "operate",
    "state": "valid",
    "created_at": "2026-11-30T09:00:00Z",
    "created_by": "operator (settings)",
    "expires_at": "2027-02-28T09:00:00Z",
    "last_used_at": None,
    "revoked_at": None,
}
_ACTION_EXAMPLE: JsonDict = {
    "id": 41,
    "at": "2026-11-30T09:12:00Z",
    "actor": "nightly job",
    "via": "api",
    "action": "run.rerun",
    "subject": "run 7",
    "detail": "the failed tests, as run 8",
    "run_id": 7,
    "request_id": "5073f74e2457c787",
}


class Scope(StrEnum):
    """What a token opens. `admin` may also operate, `operate` may also read; `worker` opens the worker API alone."""

    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"
    WORKER = "worker"


class Via(StrEnum):
    """How an operator acted."""

    API = "api"
    PAGE = "page"
    #: By a comment on a pull request; the actor is GitHub's login.
    COMMENT = "comment"


class TokenState(StrEnum):
    """Only `valid` opens anything."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


class TokenView(View):
    """A token without its value. `expires_at` is None for one that stays valid until it is revoked; `last_used_at` is
    exact to a minute."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_TOKEN_EXAMPLE]})

    id: int
    name: str
    scope: Scope
    state: TokenState
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class TokenPage(Page):
    """`GET /api/v1/tokens`, newest first. `next_before` is the id to pass as `before` for the next page."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra={"examples": [{"tokens": [_TOKEN_EXAMPLE], "next_before": None, "next": None}]}
    )

    tokens: tuple[TokenView, ...]
    next_before: int | None


class NewToken(View):
    """`POST /api/v1/tokens`: the only answer that ever holds the token itself."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra={"examples": [{"token": "relay_...", "about": _TOKEN_EXAMPLE}]}
    )

    token: str
    about: TokenView


class ActionView(View):
    """One thing an operator did. `action` is a word such as `run.rerun`; `subject` is what it was done to."""

    id: int
    at: datetime
    actor: str
    via: Via
    action: str
    subject: str
    detail: str
    run_id: int | None
    request_id: str


class ActionPage(Page):
    """`GET /api/v1/actions`, newest first. `next_before` is the id to pass as `before` for the next page."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra={"examples": [{"actions": [_ACTION_EXAMPLE], "next_before": None, "next": None}]}
    )

    actions: tuple[ActionView, ...]
    next_before: int | None
