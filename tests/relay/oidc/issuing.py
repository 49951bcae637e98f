"""Issuers under a test's control: real RSA keys and signatures, published through a transport instead of a network."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from relay.oidc.issuers import BUILDKITE_ISSUER, GITHUB_ISSUER
from relay.oidc.verifier import AUDIENCE, OidcVerifier

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


@cache
def private_key(name: str, bits: int = 2_048) -> rsa.RSAPrivateKey:
    """The key of this name, made once for all tests: making one takes longer than anything else here."""
    del name
    return rsa.generate_private_key(65_537, bits)


def public_jwk(kid: str, /, **changes: object) -> dict[str, object]:
    """The published form of a key."""
    published: dict[str, object] = RSAAlgorithm.to_jwk(private_key(kid).public_key(), as_dict=True)
    return published | {"kid": kid, "use": "sig", "alg": "RS256"} | changes


def github_claims(repo: str = "a/l2", /, **changes: object) -> dict[str, object]:
    """What GitHub states about a job. A claim that is changed to None is left out."""
    at = int(NOW.timestamp())
    claims = {"iss": GITHUB_ISSUER, "aud": AUDIENCE, "repository": repo, "iat": at, "nbf": at, "exp": at + 300}
    return {name: value for name, value in ({**claims, "jti": "j1"} | changes).items() if value is not None}


def buildkite_claims(**changes: object) -> dict[str, object]:
    """What Buildkite states about a job of the registered pipeline `org-1/pipe-1`."""
    ids = {"organization_id": "org-1", "pipeline_id": "pipe-1", "build_branch": "main"}
    mine: dict[str, object] = {"iss": BUILDKITE_ISSUER, "repository": None, "jti": None}
    return github_claims("", **(mine | ids | changes))


def signed(claims: Mapping[str, object], kid: str = "github-1", /, **header: object) -> str:
    """A token of these claims, signed with the key of this id."""
    return jwt.encode(dict(claims), private_key(kid), algorithm="RS256", headers={"kid": kid, **header})


def forged(header: object, payload: object, signature: bytes = b"x") -> str:
    """A token of any content at all; bytes are taken as they are."""
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, payload)]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (*parts, signature))


@dataclass
class Clock:
    """A clock of seconds that moves when told to."""

    at: float = 0.0

    def __call__(self) -> float:
        return self.at


@dataclass
class Publisher:
    """Answers for key sets by URL. `asked` are the URLs in order; an exception as an answer is raised."""

    answers: dict[str, httpx.Response | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def publish(self, issuer: str, *keys: Mapping[str, object]) -> None:
        """Let an issuer publish these keys."""
        self.answers[f"{issuer}/.well-known/jwks"] = httpx.Response(200, json={"keys": keys})

    def fail(self, issuer: str, answer: httpx.Response | Exception) -> None:
        """Let an issuer answer so."""
        self.answers[f"{issuer}/.well-known/jwks"] = answer

    @property
    def transport(self) -> httpx.MockTransport:
        """The network in which only these answers exist."""
        return httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        self.asked.append(url)
        answer = self.answers.get(url, httpx.Response(404))
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, content=answer.content)


@dataclass(frozen=True)
class Pipeline:
    """A registered pipeline."""

    repo: str
    required_claims: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass
class Pipelines:
    """Registered pipelines by "organization/pipeline"."""

    known: dict[str, Pipeline] = field(default_factory=lambda: {"org-1/pipe-1": Pipeline("a/l2")})

    def lookup(self, organization_id: str, pipeline_id: str) -> Pipeline | None:
        """As the provider file's."""
        return self.known.get(f"{organization_id}/{pipeline_id}")


def published() -> Publisher:
    """Both compiled-in issuers, each with its own key."""
    publisher = Publisher()
    publisher.publish(GITHUB_ISSUER, public_jwk("github-1"))
    publisher.publish(BUILDKITE_ISSUER, public_jwk("buildkite-1"))
    return publisher


def verifier(
    publisher: Publisher | None = None,
    *,
    pipelines: Pipelines | None = None,
    strict: bool = False,
    dev_issuer: str = "",
    now: datetime = NOW,
) -> OidcVerifier:
    """The real verifier on published keys, at a moment."""
    known = pipelines or Pipelines()
    return OidcVerifier(
        lambda: known,
        strict=strict,
        dev_issuer=dev_issuer,
        transport=(publisher or published()).transport,
        now=lambda: now,
        clock=Clock(),
    )
