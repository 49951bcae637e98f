"""Access tokens: made, listed, revoked. What is kept of one is its SHA-256 digest: it is 256 random bits, so nothing
slower would make guessing harder.

Works inside the caller's session. Whether a token opens something is asked in `relay.access.principals`.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.orm import Session

from relay.access_views import NewToken, Scope, TokenPage, TokenState, TokenView
from relay.errors import ConflictError, NotFoundError
from relay.runs.states import is_row_id
from relay.store.access_models import AccessToken, SignIn
from relay.store.one_by_one import one_by_one

#: Lets scanners of published code know one of ours.
PREFIX = "relay_"


def digest_of(secret: str) -> str:
    """What is kept of a token or a cookie."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_valid(now: datetime) -> ColumnElement[bool]:
    """Neither revoked nor expired."""
    return AccessToken.revoked_at.is_(None) & or_(AccessToken.expires_at.is_(None), AccessToken.expires_at > now)


def create_token(
    session: Session, name: str, scope: Scope, now: datetime, *, expires_at: datetime | None, created_by: str
) -> NewToken:
    """A new token.

    Raises:
        ConflictError: a valid token has this name, so the audit log could not tell them apart; or it would have
            expired already.
    """
    if expires_at is not None and expires_at <= now:
        raise ConflictError(
            "The token would have expired before it exists.", "Name a later moment.", code="expired_already"
        )
    one_by_one(session, f"token/{name}")
    if session.scalar(select(AccessToken.id).where(AccessToken.name == name, is_valid(now)).limit(1)) is not None:
        raise ConflictError(
            f"There is a valid token named {name}.",
            "Choose another name, or revoke that one first (relay token list shows its number).",
            code="name_taken",
        )
    secret = PREFIX + secrets.token_urlsafe(32)
    row = AccessToken(
        name=name,
        scope=scope,
        digest=digest_of(secret),
        created_at=now,
        created_by=created_by,
        expires_at=expires_at,
    )
    session.add(row)
    session.flush()
    return NewToken(token=secret, about=_view(row, now))


def list_tokens(session: Session, now: datetime, *, every: bool, limit: int, before: int | None) -> TokenPage:
    """Tokens with smaller ids than `before`, the newest first; without `every` only those that are valid."""
    query = select(AccessToken)
    if not every:
        query = query.where(is_valid(now))
    if before is not None:
        query = query.where(AccessToken.id < before)
    found = session.scalars(query.order_by(AccessToken.id.desc()).limit(limit + 1)).all()
    return TokenPage(
        tokens=tuple(_view(row, now) for row in found[:limit]),
        next_before=found[limit - 1].id if len(found) > limit else None,
    )


def revoke_token(session: Session, token_id: int, now: datetime) -> TokenView:
    """End a token and the sign-ins with it; one that is revoked already stays as it is.

    Raises:
        NotFoundError: no such token.
    """
    row = session.get(AccessToken, token_id) if is_row_id(token_id) else None
    if row is None:
        raise NotFoundError(f"There is no token {token_id}.", "relay token list --all shows the tokens there are.")
    if row.revoked_at is None:
        row.revoked_at = now
    session.execute(delete(SignIn).where(SignIn.token_id == row.id))
    return _view(row, now)


def _view(row: AccessToken, now: datetime) -> TokenView:
    return TokenView(
        id=row.id,
        name=row.name,
        scope=row.scope,
        state=_state(row, now),
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
    )


def _state(row: AccessToken, now: datetime) -> TokenState:
    if row.revoked_at is not None:
        return TokenState.REVOKED
    return TokenState.EXPIRED if row.expires_at is not None and row.expires_at <= now else TokenState.VALID
