"""`/api/v1/tokens`: access tokens, made, listed and revoked with a token of scope `admin`.

A token's value is in the answer that makes it and never again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from relay.access.actions import record_action
from relay.access.tokens import create_token, list_tokens, revoke_token
from relay.access_views import NewToken, Scope, TokenPage, TokenView
from relay.context import Context
from relay.errors import ConflictError
from relay.store.access_models import ACTOR_CAP
from relay.web.auth import Admin, AdminOnly
from relay.web.paging import LARGEST, Before, Limit, Paged
from relay.web.refusals import refuses

router = APIRouter(prefix="/api/v1/tokens", tags=["access"], dependencies=[AdminOnly])

_NAME_TAKEN = ConflictError(
    "There is a valid token named nightly job.",
    "Choose another name, or revoke that one first (relay token list shows its number).",
    code="name_taken",
)

TokenId = Annotated[int, Path(ge=1, le=LARGEST, description="A token's number")]


class TokenRequest(BaseModel):
    """What a new token is for. Without `expires_at` it is valid until it is revoked."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "nightly job", "scope": "operate", "expires_at": "2027-01-31T00:00:00Z"}]
        },
    )

    #: Printable, so that the audit log shows what was meant; not blank at either end.
    name: Annotated[str, Field(max_length=ACTOR_CAP, pattern=r"^[A-Za-z0-9]([A-Za-z0-9 ._@/+-]*[A-Za-z0-9])?$")]
    scope: Scope
    expires_at: AwareDatetime | None = None


@router.get("", summary="Access tokens, without their values")
def tokens(
    context: Context,
    paging: Paged,
    *,
    every: Annotated[bool, Query(description="Also the expired and the revoked ones")] = False,
    limit: Limit = 50,
    before: Before = None,
) -> TokenPage:
    """Newest first; the expired and the revoked ones only where they are asked for."""
    with context.store.reading() as session:
        page = list_tokens(session, context.now(), every=every, limit=limit, before=paging.number(before))
    return paging.linked(page, page.next_before)


@router.post("", status_code=201, summary="Make a token", responses=refuses(_NAME_TAKEN))
def create(context: Context, admin: Admin, response: Response, wanted: Annotated[TokenRequest, Body()]) -> NewToken:
    """Makes a token. This answer is the only one that holds its value."""
    response.headers["Cache-Control"] = "no-store"
    now = context.now()
    with context.store.writing() as session:
        made = create_token(
            session, wanted.name, wanted.scope, now, expires_at=wanted.expires_at, created_by=admin.name
        )
        detail = f"scope {wanted.scope}, {_until(wanted.expires_at)}"
        record_action(
            session, admin, "token.create", now, subject=f"token {made.about.id} {wanted.name}", detail=detail
        )
    return made


@router.delete("/{token_id}", summary="Revoke a token")
def revoke(context: Context, admin: Admin, token_id: TokenId) -> TokenView:
    """Ends a token and every sign-in with it, at once."""
    now = context.now()
    with context.store.writing() as session:
        ended = revoke_token(session, token_id, now)
        record_action(session, admin, "token.revoke", now, subject=f"token {ended.id} {ended.name}")
    return ended


def _until(expires_at: datetime | None) -> str:
    return f"until {expires_at.isoformat(timespec='seconds')}" if expires_at else "without an end"
