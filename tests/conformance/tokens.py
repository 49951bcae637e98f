"""Identity tokens as the issuers sign them: real RS256, keys published over the transport of the verifier."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from relay.oidc.issuers import BUILDKITE_ISSUER, GITHUB_ISSUER
from relay.oidc.verifier import AUDIENCE

_LIFETIME_S = 300


def _new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@dataclass
class Tokens:
    """Signs for both issuers. `down`: their keys cannot be had. Making keys is slow: one object serves a session."""

    keys: dict[str, rsa.RSAPrivateKey] = field(
        default_factory=lambda: {GITHUB_ISSUER: _new_key(), BUILDKITE_ISSUER: _new_key()}
    )
    down: bool = False
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def github(self, repo: str, now: datetime, **claims: object) -> str:
        """A token of a GitHub Actions job of `repo`; claims that are None are left out."""
        return self.signed(GITHUB_ISSUER, now, {"repository": repo, "sub": f"repo:{repo}:ref:refs/heads/main"} | claims)

    def buildkite(self, organization: str, pipeline: str, now: datetime, **claims: object) -> str:
        """A token of a Buildkite job."""
        own = {"organization_id": organization, "pipeline_id": pipeline}
        return self.signed(BUILDKITE_ISSUER, now, own | claims)

    def signed(self, issuer: str, now: datetime, claims: dict[str, object], *, by: str | None = None) -> str:
        """A token of an issuer, signed with the key of `by` (that issuer)."""
        at = int(now.timestamp())
        told: dict[str, object] = {"iss": issuer, "aud": AUDIENCE, "iat": at, "nbf": at, "exp": at + _LIFETIME_S}
        told |= {"jti": f"token-{next(self._numbers)}"} | claims
        given = {name: value for name, value in told.items() if value is not None}
        signer = by or issuer
        return jwt.encode(given, self.keys[signer], algorithm="RS256", headers={"kid": _kid(signer)})

    @property
    def transport(self) -> httpx.MockTransport:
        """Publishes the keys where the issuers do."""
        return httpx.MockTransport(self._published)

    def _published(self, request: httpx.Request) -> httpx.Response:
        if self.down:
            raise httpx.ConnectError("the issuer is down", request=request)
        issuer = f"{request.url.scheme}://{request.url.host}"
        found = self.keys.get(issuer)
        if found is None or request.url.path != "/.well-known/jwks":
            return httpx.Response(404)
        key: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(found.public_key()))
        return httpx.Response(200, json={"keys": [key | {"kid": _kid(issuer), "alg": "RS256", "use": "sig"}]})


def _kid(issuer: str) -> str:
    return f"key of {issuer}"
