"""What readers get of tokens and of the audit log: shared by the API, its client and the command line.

No view holds a digest, and only `NewToken`, which is answered once, holds a token.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from relay.store.access_models import Scope, Via
from relay.views import View


class TokenState(StrEnum):
    """Only `valid` opens anything."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


class TokenView(View):
    """A token without its value. `expires_at` is None for one that stays valid until it is revoked; `last_used_at` is
    exact to a minute."""

    id: int
    name: str
    scope: Scope
    state: TokenState
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class TokenPage(View):
    """`GET /api/v1/tokens`, newest first. `next_before` is the id to pass as `before` for the next page."""

    tokens: tuple[TokenView, ...]
    next_before: int | None


class NewToken(View):
    """`POST /api/v1/tokens`: the only answer that ever holds the token itself."""

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


class ActionPage(View):
    """`GET /api/v1/actions`, newest first. `next_before` is the id to pass as `before` for the next page."""

    actions: tuple[ActionView, ...]
    next_before: int | None
