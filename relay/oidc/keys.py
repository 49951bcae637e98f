"""The public keys of one issuer: fetched when they are needed, kept for a while, and never asked for in a hurry.

A token names its key, so a stranger could make us ask the issuer with every call; hence the cool-down. A failure of the
issuer must not stop callbacks whose key we know, hence the grace. Verification itself is `relay.oidc.verifier`'s.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import httpx
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from relay.outgoing import ask, open_client

#: Seconds for which fetched keys are used without asking.
FRESH_S = 300.0
#: Seconds for which a known key goes on being used while the issuer cannot be asked.
GRACE_S = 3_600.0
#: Seconds between two requests, whatever tokens come in and whatever the last one gave.
COOL_DOWN_S = 30.0
TIMEOUT_S = 10.0
_BODY_CAP = 1024 * 1024
#: NIST SP 800-131A: a shorter modulus proves nothing any more.
_BITS_MINIMUM = 2_048

_log = structlog.get_logger(__name__)


class KeysUnavailableError(Exception):
    """The issuer's keys cannot be had now. The message is for operators."""


class IssuerKeys:
    """The RS256 keys published at `url`. `clock` is in seconds and never goes back."""

    def __init__(
        self, url: str, *, transport: httpx.BaseTransport | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.url = url
        self._http = open_client(url, timeout_s=TIMEOUT_S, transport=transport)
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: Mapping[str, RSAPublicKey] = {}
        self._read_at: float | None = None
        self._asked_at: float | None = None
        self._problem = ""

    def find(self, kid: str) -> RSAPublicKey | None:
        """The key of this id, None when the issuer publishes none.

        Raises:
            KeysUnavailableError: the issuer cannot be asked, and nothing recent enough is known.
        """
        if (known := self._known(kid, FRESH_S)) is not None:
            return known
        aged = self._known(kid, GRACE_S)
        # One thread asks. The others wait for its answer instead of asking again, unless they have a key to go on with:
        # an issuer that hangs must not hold up every callback.
        if not self._lock.acquire(blocking=aged is None):
            return aged
        try:
            return self._renewed(kid)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _renewed(self, kid: str) -> RSAPublicKey | None:
        if self._known(kid, FRESH_S) is None and _over(self._asked_at, COOL_DOWN_S, self._clock()):
            self._ask()
        known = self._known(kid, GRACE_S)
        if known is None and self._problem:
            raise KeysUnavailableError(self._problem)
        return known

    def _known(self, kid: str, for_s: float) -> RSAPublicKey | None:
        return None if _over(self._read_at, for_s, self._clock()) else self._keys.get(kid)

    def _ask(self) -> None:
        self._asked_at = self._clock()
        try:
            keys = self._fetched()
        except (httpx.HTTPError, KeysUnavailableError) as error:
            self._problem = f"The keys at {self.url} cannot be had: {error or type(error).__name__}"
            _log.warning("oidc keys unavailable", url=self.url, problem=self._problem)
        else:
            self._keys, self._read_at, self._problem = keys, self._asked_at, ""

    def _fetched(self) -> Mapping[str, RSAPublicKey]:
        request = self._http.build_request("GET", self.url, headers={"Accept": "application/json"})
        answer = ask(self._http, request, _BODY_CAP)
        if answer.status != 200:
            raise KeysUnavailableError(f"the answer is {answer.status}")
        keys = read_keys(answer.json())
        if not keys:
            raise KeysUnavailableError("the answer holds no key that can be used")
        return keys


def read_keys(document: object) -> Mapping[str, RSAPublicKey]:
    """The keys for RS256 signatures in a JWK set (RFC 7517), by their ids. What is not one is passed over."""
    members = document.get("keys") if isinstance(document, dict) else None
    found: dict[str, RSAPublicKey] = {}
    for member in members if isinstance(members, list) else ():
        key = _read_key(member)
        if key is not None:
            found[member["kid"]] = key
    return found


def _read_key(member: object) -> RSAPublicKey | None:
    if not isinstance(member, dict) or not isinstance(member.get("kid"), str):
        return None
    fits = member.get("kty") == "RSA" and member.get("use", "sig") == "sig" and member.get("alg", "RS256") == "RS256"
    if not fits:
        return None
    try:
        key = PyJWK(member, algorithm="RS256").key
    except PyJWTError:
        return None
    # A private key in a public document is a leaked one.
    return key if isinstance(key, RSAPublicKey) and key.key_size >= _BITS_MINIMUM else None


def _over(since: float | None, span_s: float, now: float) -> bool:
    return since is None or now - since >= span_s
