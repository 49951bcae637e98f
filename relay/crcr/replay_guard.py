"""A bearer token opens the door for one body only: who overhears one can repeat what was said, and say nothing else.

Owns the rows of used tokens; must not decide what a callback does. Tokens without an id of their own (`jti`) cannot be
told apart and pass.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from relay.parts import TokenRefusedError, VerifiedClaims
from relay.store.crcr_models import SeenToken

_TEXT_CAP = 200
#: A verifier's leeway lets a token in after its end; it must not be forgotten before that.
_LEEWAY = timedelta(minutes=10)


def admit(session: Session, claims: VerifiedClaims, body_digest: str, now: datetime) -> None:
    """Note that the token was used for a body with this digest.

    Raises:
        TokenRefusedError: 401, it was used for another body.
    """
    if not claims.jti:
        return
    known = _known(session, claims)
    if known is None:
        known = _note(session, claims, body_digest, now)
    if known is None:
        return
    if known.body_digest != body_digest:
        raise TokenRefusedError("This token was used for another callback; ask for a new one for each")
    session.execute(update(SeenToken).where(SeenToken.id == known.id).values(uses=SeenToken.uses + 1))


def forget_tokens(session: Session, now: datetime, *, limit: int) -> int:
    """Remove up to `limit` tokens that no verifier lets in any more. How many went."""
    query = select(SeenToken.id).where(SeenToken.expires_at < now - _LEEWAY).order_by(SeenToken.expires_at)
    over = session.scalars(query.limit(limit)).all()
    if over:
        session.execute(delete(SeenToken).where(SeenToken.id.in_(over)))
    return len(over)


def _note(session: Session, claims: VerifiedClaims, body_digest: str, now: datetime) -> SeenToken | None:
    """Store a token that is new. What is there instead when a twin request was first."""
    session.execute(delete(SeenToken).where(SeenToken.expires_at < now - _LEEWAY))
    issuer, jti = _names(claims)
    fresh = SeenToken(issuer=issuer, jti=jti, body_digest=body_digest, expires_at=claims.expires_at)
    try:
        with session.begin_nested():
            session.add(fresh)
    except IntegrityError:
        return _known(session, claims)
    return None


def _known(session: Session, claims: VerifiedClaims) -> SeenToken | None:
    issuer, jti = _names(claims)
    return session.scalar(select(SeenToken).where(SeenToken.issuer == issuer, SeenToken.jti == jti))


def _names(claims: VerifiedClaims) -> tuple[str, str]:
    return _bounded(claims.issuer), _bounded(claims.jti)


def _bounded(text: str) -> str:
    """A text as it is, or its digest when no column takes it."""
    storable = len(text) <= _TEXT_CAP and text.isprintable()
    return text if storable else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
