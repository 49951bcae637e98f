"""The App's own token: signed by its private key, good for minutes, for what concerns the App and not a repository.

Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import SecretStr

from relay.errors import SettingsError

#: GitHub's advice against clocks that differ, and a minute less than the most it allows.
_BEFORE = timedelta(seconds=60)
_LIFE = timedelta(minutes=9)
#: A difference of clocks that is worth another try.
_SKEW = timedelta(seconds=5)

_log = structlog.get_logger(__name__)


class AppIdentity:
    """Signs for the App. It learns how far GitHub's clock is from `now`.

    Raises:
        SettingsError: the private key is none.
    """

    def __init__(self, app_id: int, private_key: SecretStr, now: Callable[[], datetime]) -> None:
        self._app_id = app_id
        self._key = read_private_key(private_key)
        self._now = now
        self._skew = timedelta(0)

    def authorization(self) -> str:
        """A fresh `Authorization` header."""
        at = self.time()
        claims = {
            "iss": str(self._app_id),
            "iat": int((at - _BEFORE).timestamp()),
            "exp": int((at + _LIFE).timestamp()),
        }
        return f"Bearer {jwt.encode(claims, self._key, algorithm='RS256')}"

    def time(self) -> datetime:
        """GitHub's clock, as far as it is known."""
        return self._now() + self._skew

    def learn(self, server_time: datetime | None) -> bool:
        """Take GitHub's clock from an answer; whether that makes another token than before."""
        if server_time is None or abs(server_time - self.time()) < _SKEW:
            return False
        self._skew = server_time - self._now()
        _log.warning("clock differs from GitHub's", seconds=round(self._skew.total_seconds()))
        return True


def read_private_key(pem: SecretStr) -> RSAPrivateKey:
    """The key of a PEM text. Line ends may be written as `\\n`, as they are in many an environment file.

    Raises:
        SettingsError: it is none, or not RSA, or needs a passphrase; the text is not quoted.
    """
    text = pem.get_secret_value().replace("\\n", "\n").strip()
    try:
        key = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise SettingsError(
            "RELAY_GITHUB_APP_PRIVATE_KEY is no RSA private key in PEM form. Give the whole text of the .pem file that "
            "GitHub made for the App, from its BEGIN line to its END line."
        )
    return key
