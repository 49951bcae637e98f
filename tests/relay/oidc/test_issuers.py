"""The compiled-in trust anchors."""

from __future__ import annotations

from relay.oidc.issuers import BUILDKITE, GITHUB, Duty


def test_both_issuers_are_those_of_the_protocol() -> None:
    """Their addresses are part of the wire format (crcr-protocol 8.1)."""
    assert GITHUB.url == "https://token.actions.githubusercontent.com"
    assert BUILDKITE.url == "https://agent.buildkite.com"


def test_identity_is_what_the_issuer_itself_vouches_for() -> None:
    """GitHub for the repository, Buildkite for ids that nobody can rename."""
    assert GITHUB.identity == ("repository",)
    assert BUILDKITE.identity == ("organization_id", "pipeline_id")
    assert BUILDKITE.claims["repository"] is Duty.UNCHECKED


def test_every_duty_is_some_claims() -> None:
    """No word of the table is without use."""
    assert {duty for issuer in (GITHUB, BUILDKITE) for duty in issuer.claims.values()} == set(Duty)
