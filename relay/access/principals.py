"""Who a token speaks for: one of the settings, compared in constant time, or one on record, found by its digest.

Owns the question only: what the answer is enough for is said by `relay.access.scopes`. A token is never logged.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import SecretStr
from sqlalchemy import or_, select, update

from relay.access.tokens import PREFIX, digest_of, is_valid
from relay.access_views import Scope
from relay.settings import RelaySettings
from relay.store.access_models import AccessToken
from relay.store.engine import Store

#: Names that no token on record can have.
OPERATOR_NAME = "operator (settings)"
WORKER_NAME = "worker (settings)"
#: Often enough to tell a token in use from a forgotten one, and no write for each request.
_USE_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, by the name of the token. `token_id` is None for a token of the settings."""

    name: str
    scope: Scope
    token_id: int | None = None


def builtin_tokens(settings: RelaySettings) -> tuple[tuple[Principal, SecretStr], ...]:
    """The tokens of the settings. Who holds the operator token runs the service, so it may do everything."""
    given = (
        (Principal(OPERATOR_NAME, Scope.ADMIN), settings.operator_token),
        (Principal(WORKER_NAME, Scope.WORKER), settings.worker_token),
    )
    return tuple((principal, secret) for principal, secret in given if secret is not None)


def identify(store: Store, settings: RelaySettings, token: str, now: datetime) -> Principal | None:
    """Whom the token speaks for; None for a wrong, expired or revoked one. Notes that it was used."""
    builtin = _builtin(settings, token)
    if builtin is not None:
        return builtin
    if not token.startswith(PREFIX):
        return None
    with store.reading() as session:
        row = session.scalar(select(AccessToken).where(AccessToken.digest == digest_of(token), is_valid(now)))
    if row is None:
        return None
    _note_use(store, row, now)
    return Principal(row.name, row.scope, row.id)


def _builtin(settings: RelaySettings, token: str) -> Principal | None:
    """Every one is compared, by digest: how long it takes tells neither which one fits nor how long they are."""
    given, found = digest_of(token).encode(), None
    for principal, secret in builtin_tokens(settings):
        if hmac.compare_digest(given, digest_of(secret.get_secret_value()).encode()):
            found = principal
    return found


def _note_use(store: Store, row: AccessToken, now: datetime) -> None:
    stale = now - _USE_NOTED_EVERY
    if row.last_used_at is not None and row.last_used_at > stale:
        return
    unnoted = or_(AccessToken.last_used_at.is_(None), AccessToken.last_used_at <= stale)
    with store.writing() as session:
        session.execute(update(AccessToken).where(AccessToken.id == row.id, unnoted).values(last_used_at=now))
