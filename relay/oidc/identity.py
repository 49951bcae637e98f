"""For which repository a verified token speaks: GitHub says it itself, a Buildkite pipeline is registered for one.

Pure but for the callable that gives the registrations in force. It believes the claims it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from relay.oidc.issuers import Issuer
from relay.parts import AllowlistUnavailableError, TokenRefusedError

#: Owner and name as GitHub allows them; together they fit the record's column.
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}")
_SHOWN_CAP = 200


class Registration(Protocol):
    """What a pipeline is registered for, and which of its claims must have one of which values."""

    @property
    def repo(self) -> str:
        """`owner/name`."""
        ...

    @property
    def required_claims(self) -> Mapping[str, Sequence[str]]:
        """Claim name -> the values that are allowed, as text."""
        ...


class Registrations(Protocol):
    """The pipelines that are known."""

    def lookup(self, organization_id: str, pipeline_id: str) -> Registration | None:
        """The registration of a pipeline, by its immutable ids."""
        ...


Identify = Callable[[Issuer, Mapping[str, object]], str]


def github_repository(issuer: Issuer, claims: Mapping[str, object]) -> str:
    """The repository whose job asked GitHub for the token.

    Raises:
        TokenRefusedError: 401, the claim is absent or names no repository.
    """
    (repo,) = _identity(issuer, claims)
    if _REPO.fullmatch(repo) is None:
        raise TokenRefusedError(f"GitHub OIDC token names no repository: {shown(repo)}")
    return repo


def buildkite_repository(registrations: Callable[[], Registrations]) -> Identify:
    """How a Buildkite token finds its repository: by the registrations in force when it comes in."""

    def identify(issuer: Issuer, claims: Mapping[str, object]) -> str:
        organization, pipeline = _identity(issuer, claims)
        try:
            found = registrations().lookup(organization, pipeline)
        except AllowlistUnavailableError as error:
            raise TokenRefusedError(f"The registered pipelines cannot be read now: {error}", 503) from error
        if found is None:
            name = f"{shown(organization)}/{shown(pipeline)}"
            raise TokenRefusedError(f"Buildkite pipeline not registered: {name}", 403)
        _demand(found.required_claims, claims)
        return found.repo

    return identify


def _identity(issuer: Issuer, claims: Mapping[str, object]) -> list[str]:
    values = {name: claims.get(name) for name in issuer.identity}
    found = [value for value in values.values() if isinstance(value, str) and value]
    if len(found) < len(values):
        missing = next(name for name, value in values.items() if not isinstance(value, str) or not value)
        raise TokenRefusedError(f"{issuer.name} OIDC token missing '{missing}' claim")
    return found


def _demand(required: Mapping[str, Sequence[str]], claims: Mapping[str, object]) -> None:
    for name, allowed in required.items():
        value = claims.get(name)
        # A registration may allow the empty text, so absent and empty are the same (crcr-protocol 1.5).
        text = "" if value is None else str(value)
        if text not in allowed:
            raise TokenRefusedError(f"Buildkite claim not allowed: {name}={shown(text)}", 403)


def shown(text: str) -> str:
    """Text of a stranger, fit for a message of one line."""
    return "".join(character if character.isprintable() else "?" for character in text[:_SHOWN_CAP])
