"""Sign-ins of browsers: a random cookie that stands for a token for some hours, and the tokens of forms made from it.

Owns what a cookie means. It ends with the token it was got with, also with one of the settings. How a cookie is set
and where it is asked for is `relay.web`'s.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from relay.access.principals import Principal, builtin_tokens
from relay.access.tokens import digest_of, is_valid
from relay.settings import RelaySettings
from relay.store.access_models import AccessToken, SignIn
from relay.store.engine import Store

#: A working day; then the token is asked for again.
SIGNED_IN_FOR = timedelta(hours=12)
_FORM = b"form"
_PROOF = b"proof:"


def new_cookie() -> str:
    """What a browser gets: 256 random bits."""
    return secrets.token_urlsafe(32)


def form_token(cookie: str) -> str:
    """What every form of a page must send back. Another site can make a browser send the cookie's request, but can
    neither read the cookie nor this."""
    return _keyed(cookie, _FORM)


def fits_form(cookie: str, given: str) -> bool:
    """Whether a form was made for the holder of this cookie."""
    return bool(cookie) and hmac.compare_digest(given.encode(), form_token(cookie).encode())


def sign_in(session: Session, principal: Principal, token: str, now: datetime) -> str:
    """Remember that a browser showed `token`, which speaks for `principal`. The cookie to set. Forgets what is over."""
    session.execute(delete(SignIn).where(SignIn.expires_at <= now))
    cookie = new_cookie()
    proof = "" if principal.token_id is not None else _proof(cookie, token)
    session.add(
        SignIn(
            digest=digest_of(cookie),
            token_id=principal.token_id,
            proof=proof,
            created_at=now,
            expires_at=now + SIGNED_IN_FOR,
        )
    )
    return cookie


def signed_in(store: Store, settings: RelaySettings, cookie: str, now: datetime) -> Principal | None:
    """Who signed in with this cookie; None when nobody did, or the sign-in or its token is over."""
    query = (
        select(SignIn.proof, AccessToken)
        .outerjoin(AccessToken, (AccessToken.id == SignIn.token_id) & is_valid(now))
        .where(SignIn.digest == digest_of(cookie), SignIn.expires_at > now)
    )
    with store.reading() as session:
        found = session.execute(query).one_or_none()
    if found is None:
        return None
    proof, row = found
    if row is not None:
        return Principal(row.name, row.scope, row.id)
    return _builtin(settings, cookie, proof) if proof else None


def sign_out(session: Session, cookie: str) -> None:
    """End the sign-in of this cookie, if it is one."""
    session.execute(delete(SignIn).where(SignIn.digest == digest_of(cookie)))


def forget_sign_ins(session: Session, now: datetime, *, limit: int) -> int:
    """Remove up to `limit` sign-ins that are over. How many went."""
    query = select(SignIn.id).where(SignIn.expires_at <= now).order_by(SignIn.expires_at)
    over = session.scalars(query.limit(limit)).all()
    if over:
        session.execute(delete(SignIn).where(SignIn.id.in_(over)))
    return len(over)


def _builtin(settings: RelaySettings, cookie: str, proof: str) -> Principal | None:
    for principal, secret in builtin_tokens(settings):
        if hmac.compare_digest(proof, _proof(cookie, secret.get_secret_value())):
            return principal
    return None


def _proof(cookie: str, token: str) -> str:
    return _keyed(cookie, _PROOF + token.encode())


def _keyed(cookie: str, message: bytes) -> str:
    return hmac.new(cookie.encode(), message, hashlib.sha256).hexdigest()
