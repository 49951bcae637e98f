"""From the `Authorization` header to whom it speaks for: route by issuer, verify, judge times, find the repository.

What a token says before its signature is verified serves for one thing, to choose the keys. Nothing of a token but its
issuer is ever logged or quoted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.exceptions import PyJWTError

from relay.oidc import times
from relay.oidc.identity import Identify, Registrations, buildkite_repository, github_repository, shown
from relay.oidc.issuers import BUILDKITE, GITHUB, Issuer, local_issuer
from relay.oidc.keys import IssuerKeys, KeysUnavailableError
from relay.parts import TokenRefusedError, VerifiedClaims

AUDIENCE = "pytorch-cross-repo-ci-relay"
ALGORITHM = "RS256"
#: Characters: real tokens have one to two thousand.
_TOKEN_CAP = 16_384
#: Of a token's `jti`, and of the record's column for it.
_JTI_CAP = 200
_INVALID = "Invalid authorization token"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Anchor:
    issuer: Issuer
    keys: IssuerKeys
    identify: Identify


class OidcVerifier:
    """Verifies bearer tokens (a `relay.parts.TokenVerifier`).

    `registrations` gives the Buildkite pipelines in force; `dev_issuer` is believed as GitHub is and must be on this
    machine; `transport` replaces the network; `strict` reproduces the original's answers.

    Raises:
        SettingsError: `dev_issuer` is elsewhere.
    """

    def __init__(
        self,
        registrations: Callable[[], Registrations],
        *,
        strict: bool = False,
        dev_issuer: str = "",
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        ways: list[tuple[Issuer, Identify]] = [
            (GITHUB, github_repository),
            (BUILDKITE, buildkite_repository(registrations)),
        ]
        if dev_issuer:
            ways.append((local_issuer(dev_issuer), github_repository))
            _log.warning("tokens of a local issuer are believed", issuer=dev_issuer)
        self._anchors = {
            issuer.url: _Anchor(issuer, IssuerKeys(issuer.keys_url, transport=transport, clock=clock), identify)
            for issuer, identify in ways
        }
        self._strict = strict
        self._rules = times.STRICT if strict else times.OURS
        self._now = now
        self._unheard: set[tuple[str, str]] = set()

    def verify(self, authorization: str | None) -> VerifiedClaims:
        """The claims of the header's token, with or without the scheme.

        Raises:
            TokenRefusedError: 401 for what the token lacks, 403 for a pipeline that may not speak, 503 when the keys
                (or the registrations) cannot be had.
        """
        token = bearer(authorization)
        anchor, kid = self._route(token)
        claims = self._signed(token, anchor.issuer, self._key(anchor, kid))
        try:
            expires_at = times.valid_until(claims, self._rules, self._now())
        except times.BadTimesError as error:
            raise self._invalid(str(error)) from error
        jti = claims.get("jti", "")
        if not isinstance(jti, str) or len(jti) > _JTI_CAP:
            raise self._invalid("its 'jti' claim is no short text")
        repo = anchor.identify(anchor.issuer, claims)
        self._report_unheard(anchor.issuer, claims)
        return VerifiedClaims(repo, anchor.issuer.url, jti, expires_at, claims)

    def close(self) -> None:
        """Close the connections to the issuers."""
        for anchor in self._anchors.values():
            anchor.keys.close()

    def _route(self, token: str) -> tuple[_Anchor, object]:
        """The trust anchor that the token, not verified yet, says it belongs to, and the id of the key it names."""
        try:
            stated = jwt.decode_complete(token, options={"verify_signature": False})
        except PyJWTError as error:
            raise TokenRefusedError("Unsupported OIDC issuer: the token cannot be read") from error
        url = stated["payload"].get("iss")
        anchor = self._anchors.get(url) if isinstance(url, str) else None
        if anchor is None:
            raise TokenRefusedError(f"Unsupported OIDC issuer: {shown(url) if isinstance(url, str) else 'none'}")
        return anchor, stated["header"].get("kid")

    def _key(self, anchor: _Anchor, kid: object) -> RSAPublicKey:
        try:
            key = anchor.keys.find(kid) if isinstance(kid, str) else None
        except KeysUnavailableError as error:
            raise self._unavailable(anchor.issuer) from error
        if key is None:
            raise self._invalid(f"{anchor.issuer.name} publishes no key of the id it names")
        return key

    def _signed(self, token: str, issuer: Issuer, key: RSAPublicKey) -> Mapping[str, object]:
        """The token's claims, of which signature, algorithm, audience and issuer are verified."""
        try:
            # Every option is spelled out although most are the library's defaults: this is where trust begins.
            # Times are judged by our own clock, in `relay.oidc.times`.
            claims: dict[str, object] = jwt.decode(
                token,
                key=key,
                algorithms=[ALGORITHM],
                audience=AUDIENCE,
                issuer=issuer.url,
                options={
                    "require": ["iss", "aud"],
                    "verify_signature": True,
                    "verify_aud": True,
                    "strict_aud": False,
                    "verify_iss": True,
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                    "verify_sub": False,
                    "verify_jti": False,
                },
            )
        except PyJWTError as error:
            raise self._invalid(_cause(error)) from error
        return claims

    def _invalid(self, cause: str) -> TokenRefusedError:
        return TokenRefusedError(_INVALID if self._strict else f"{_INVALID}: {cause}")

    def _unavailable(self, issuer: Issuer) -> TokenRefusedError:
        if self._strict:
            return self._invalid("")
        return TokenRefusedError(f"The keys of {issuer.name} cannot be had now; send the same again later", 503)

    def _report_unheard(self, issuer: Issuer, claims: Mapping[str, object]) -> None:
        """Tell operators once of a claim that no table knows: an issuer has something new to say."""
        for name in claims.keys() - issuer.claims.keys():
            seen = (issuer.url, name)
            # Local issuers could invent names without end.
            if seen not in self._unheard and len(self._unheard) < 1_000:
                self._unheard.add(seen)
                _log.info("a claim that is not known", issuer=issuer.url, claim=name[:_JTI_CAP])


def bearer(authorization: str | None) -> str:
    """The token of an `Authorization` header. The scheme may be missing (crcr-protocol 1.4).

    Raises:
        TokenRefusedError: 401, there is none, or it is too long to be one.
    """
    token = re.sub(r"^\s*bearer(\s+|$)", "", authorization or "", count=1, flags=re.IGNORECASE).strip()
    if not token:
        raise TokenRefusedError("Missing authorization token")
    if len(token) > _TOKEN_CAP:
        raise TokenRefusedError(f"{_INVALID}: it is longer than {_TOKEN_CAP} characters")
    return token


def _cause(error: Exception) -> str:
    causes: tuple[tuple[type[Exception], str], ...] = (
        (jwt.InvalidAudienceError, f"its audience is not {AUDIENCE}"),
        (jwt.InvalidAlgorithmError, f"it is not signed with {ALGORITHM}"),
        (jwt.InvalidIssuerError, "its issuer is another than the one whose key signed it"),
        (jwt.MissingRequiredClaimError, "it has no audience or no issuer"),
        (jwt.InvalidSignatureError, "its signature is wrong"),
    )
    return next((cause for kind, cause in causes if isinstance(error, kind)), "it cannot be verified")
