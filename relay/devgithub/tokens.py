"""Who shows which credential: an app its own signed token, an app on an account the token it was given for an hour.

Sources: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
(generating a JSON Web Token; generating an installation access token).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import jwt
from jwt.types import Options

from relay.devgithub.records import App, Installation, RefusedError

TOKEN_LIFE = timedelta(hours=1)
#: How far ahead an app's own token may end, in seconds.
APP_TOKEN_LIFE_S = 600


@dataclass(frozen=True)
class Grant:
    """What an installation token opens: the account's repositories (casefolded names) and permissions."""

    token: str
    installation: Installation
    expires_at: datetime
    repositories: frozenset[str]
    permissions: Mapping[str, str]


class Tokens:
    """The installation tokens that were given out."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._grants: dict[str, Grant] = {}

    def grant(self, installation: Installation, repositories: frozenset[str], permissions: Mapping[str, str]) -> Grant:
        """A new token."""
        token = f"ghs_{secrets.token_hex(18)}"
        made = Grant(token, installation, self._now() + TOKEN_LIFE, repositories, dict(permissions))
        self._grants[token] = made
        return made

    def find(self, token: str) -> Grant:
        """What a token opens. Raises RefusedError 401 when it is unknown, revoked or expired."""
        found = self._grants.get(token)
        if found is None or found.expires_at <= self._now():
            raise RefusedError(401, "Bad credentials")
        return found

    def revoke_all(self) -> None:
        """Let no token be good any more."""
        self._grants.clear()


def app_of(token: str, apps: Mapping[int, App], now: datetime) -> App:
    """The app that signed this token of its own.

    Raises:
        RefusedError: 401, in GitHub's words, when it is not decodable, not the app's, over, or made to last too long.
    """
    try:
        named = jwt.decode(token, options={"verify_signature": False}).get("iss")
        app = apps[int(str(named))]
        claims = jwt.decode(token, app.public_key, algorithms=["RS256"], options=_OWN_CLOCK)
    except (jwt.InvalidTokenError, KeyError, ValueError) as error:
        raise RefusedError(401, "A JSON web token could not be decoded") from error
    _check_times(claims.get("iat"), claims.get("exp"), now.timestamp())
    return app


# The times are judged by the local GitHub's own clock.
_OWN_CLOCK: Options = {"verify_exp": False, "verify_iat": False, "verify_iss": False, "verify_aud": False}


def _check_times(issued: object, expires: object, now: float) -> None:
    if not isinstance(issued, int) or issued > now:
        said = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        raise RefusedError(401, said)
    if not isinstance(expires, int) or expires <= now:
        said = "'Expiration time' claim ('exp') must be a numeric value representing the future time"
        raise RefusedError(401, said)
    if expires > now + APP_TOKEN_LIFE_S:
        raise RefusedError(401, "'Expiration time' claim ('exp') is too far in the future")
