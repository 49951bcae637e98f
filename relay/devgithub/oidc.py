"""The issuer of the tokens that a workflow run shows to others: GitHub Actions' OpenID Connect provider.

Source: https://docs.github.com/en/actions/reference/security/oidc
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import uuid4

import jwt

from relay.devgithub.keys import jwk, key_id, new_private_pem, private_key

#: The life of a token of GitHub's, in seconds.
LIFE_S = 300
AUDIENCE = "pytorch-cross-repo-ci-relay"


class Issuer:
    """Signs tokens. `url` is the issuer's name and where its keys are: this server's own address, once it has one."""

    def __init__(self, now: Callable[[], datetime], private_pem: str = "") -> None:
        self.url = ""
        self._now = now
        self._pem = private_pem or new_private_pem()

    def rotate(self) -> None:
        """Sign with a new key from now on; the old one leaves the key set."""
        self._pem = new_private_pem()

    def key_set(self) -> dict[str, list[dict[str, str]]]:
        """`/.well-known/jwks`."""
        return {"keys": [jwk(self._pem)]}

    def configuration(self) -> dict[str, object]:
        """`/.well-known/openid-configuration`."""
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/.well-known/jwks",
            "subject_types_supported": ["public", "pairwise"],
            "response_types_supported": ["id_token"],
            "claims_supported": sorted(self.claims("owner/name", AUDIENCE)),
            "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": ["openid"],
        }

    def claims(self, repository: str, audience: str, run_id: int = 1, run_attempt: int = 1) -> dict[str, object]:
        """What a token of a job says by itself."""
        owner, _, _ = repository.partition("/")
        issued = int(self._now().timestamp())
        workflow = f"{repository}/.github/workflows/crcr.yml@refs/heads/main"
        return {
            "iss": self.url,
            "aud": audience,
            "sub": f"repo:{repository}:ref:refs/heads/main",
            "jti": str(uuid4()),
            "iat": issued,
            "nbf": issued,
            "exp": issued + LIFE_S,
            "repository": repository,
            "repository_owner": owner,
            "run_id": str(run_id),
            "run_number": "1",
            "run_attempt": str(run_attempt),
            "actor": owner,
            "event_name": "repository_dispatch",
            "ref": "refs/heads/main",
            "ref_type": "branch",
            "workflow_ref": workflow,
            "job_workflow_ref": workflow,
            "runner_environment": "github-hosted",
        }

    def mint(
        self,
        repository: str,
        *,
        audience: str = AUDIENCE,
        run_id: int = 1,
        run_attempt: int = 1,
        changes: Mapping[str, object | None] | None = None,
    ) -> str:
        """A signed token of a job. `changes` overrides claims; None leaves one out."""
        claims = self.claims(repository, audience, run_id, run_attempt) | dict(changes or {})
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(kept, private_key(self._pem), algorithm="RS256", headers={"kid": key_id(self._pem)})
