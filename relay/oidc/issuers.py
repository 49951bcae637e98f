"""The issuers whose tokens are believed, compiled in, and what becomes of each claim that they make.

Only code adds an issuer: the files that are read from elsewhere name repositories, never trust anchors. The one
exception is an issuer on this machine, for a GitHub of one's own. Sources:
https://docs.github.com/en/actions/reference/security/oidc and https://buildkite.com/docs/agent/cli/reference/oidc
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from urllib.parse import urlsplit

from relay.client import is_loopback
from relay.errors import SettingsError

GITHUB_ISSUER = "https://token.actions.githubusercontent.com"
BUILDKITE_ISSUER = "https://agent.buildkite.com"


class Duty(StrEnum):
    """What becomes of a claim. A claim that no table names is reported once, and has no effect."""

    SIGNED = "checked together with the signature"
    TIMED = "checked against the clock"
    IDENTITY = "must be there: the repository is found by it"
    REPLAY = "tells one token from another"
    UNCHECKED = "told on, and decided upon by others or by nobody"


@dataclass(frozen=True, slots=True)
class Issuer:
    """One trust anchor. `name` is for messages."""

    name: str
    url: str
    claims: Mapping[str, Duty]

    @property
    def keys_url(self) -> str:
        """Where its keys are published. The discovery document would only be one more answer to believe."""
        return f"{self.url}/.well-known/jwks"

    @property
    def identity(self) -> tuple[str, ...]:
        """The claims without which a token speaks for nobody."""
        return tuple(name for name, duty in self.claims.items() if duty is Duty.IDENTITY)


_COMMON = {
    "iss": Duty.SIGNED,
    "aud": Duty.SIGNED,
    "exp": Duty.TIMED,
    "iat": Duty.TIMED,
    "nbf": Duty.TIMED,
    "jti": Duty.REPLAY,
}


def _table(identity: str, unchecked: str) -> Mapping[str, Duty]:
    table = dict(_COMMON)
    table |= dict.fromkeys(identity.split(), Duty.IDENTITY)
    table |= dict.fromkeys(unchecked.split(), Duty.UNCHECKED)
    return MappingProxyType(table)


GITHUB_CLAIMS = _table(
    identity="repository",
    unchecked="""
        sub actor actor_id base_ref check_run_id enterprise enterprise_id enterprise_slug environment
        environment_node_id event_name head_ref issuer_scope job_workflow_ref job_workflow_sha ref ref_protected
        ref_type repository_id repository_owner repository_owner_id repository_visibility run_attempt run_id run_number
        runner_environment sha workflow workflow_ref workflow_sha
    """,
)

BUILDKITE_CLAIMS = _table(
    identity="organization_id pipeline_id",
    # `repository` proves nothing here: whoever may edit a pipeline may make it say anything.
    unchecked="""
        sub agent_id agent_tag build_branch build_commit build_id build_number build_source build_tag cluster_id
        cluster_name job_id organization_slug pipeline_slug queue_id queue_key repository runner_environment step_key
    """,
)

GITHUB = Issuer("GitHub", GITHUB_ISSUER, GITHUB_CLAIMS)
BUILDKITE = Issuer("Buildkite", BUILDKITE_ISSUER, BUILDKITE_CLAIMS)


def local_issuer(url: str) -> Issuer:
    """The issuer of a local GitHub, which speaks as GitHub does.

    Raises:
        SettingsError: it is not on this machine; anybody who can place such a setting could speak for every backend.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.query or parts.fragment or not is_loopback(url):
        raise SettingsError(
            "RELAY_DEV_OIDC_ISSUER must be http(s) on this machine, such as http://127.0.0.1:8100: "
            "it is believed like GitHub itself. Leave it out to use GitHub's."
        )
    return Issuer("local GitHub", url, GITHUB_CLAIMS)
