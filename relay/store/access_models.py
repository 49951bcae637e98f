"""The tables of who may do what: access tokens, sign-ins of browsers, and what operators did.

Owns names, types, keys and indexes; must not hold behaviour. No table holds a secret: a token and a cookie are 256
random bits, and what is kept of them is a SHA-256 digest.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from relay.access_views import Scope, Via
from relay.contract import SHORT_CAP
from relay.store.columns import CappedText, word
from relay.store.models import Base

#: Of a token's name, which is the actor's name in the audit log.
ACTOR_CAP = 100
#: Hexadecimal SHA-256.
DIGEST_CAP = 64


class AccessToken(Base):
    """A token that somebody was given. A revoked one keeps its row: the audit log names it."""

    __tablename__ = "access_tokens"
    __table_args__ = (Index(None, "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(ACTOR_CAP))
    scope: Mapped[Scope] = mapped_column(word(Scope))
    digest: Mapped[str] = mapped_column(String(DIGEST_CAP), unique=True)
    created_at: Mapped[datetime]
    created_by: Mapped[str] = mapped_column(String(ACTOR_CAP))
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class SignIn(Base):
    """A browser that signed in with a token. `proof` stands for a token of the settings, which has no row: a keyed
    digest of it under the cookie, so that it ends with the token and tells nothing about it."""

    __tablename__ = "sign_ins"
    __table_args__ = (Index(None, "expires_at"), Index(None, "token_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(String(DIGEST_CAP), unique=True)
    token_id: Mapped[int | None] = mapped_column(ForeignKey("access_tokens.id"))
    proof: Mapped[str] = mapped_column(String(DIGEST_CAP), default="")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class OperatorAction(Base):
    """One thing an operator did, written in the transaction that did it. Rows are never changed."""

    __tablename__ = "operator_actions"
    __table_args__ = (Index(None, "run_id", "id"), Index(None, "actor", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    actor: Mapped[str] = mapped_column(String(ACTOR_CAP))
    token_id: Mapped[int | None] = mapped_column(ForeignKey("access_tokens.id"))
    via: Mapped[Via] = mapped_column(word(Via))
    action: Mapped[str] = mapped_column(String(64))
    subject: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    detail: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    request_id: Mapped[str] = mapped_column(String(64), default="")
