"""For which repository a verified token speaks."""

from __future__ import annotations

import pytest

from relay.oidc.identity import Registrations, buildkite_repository, github_repository
from relay.oidc.issuers import BUILDKITE, GITHUB
from relay.parts import AllowlistUnavailableError, TokenRefusedError
from tests.relay.oidc.issuing import Pipeline, Pipelines, buildkite_claims

MAPPED = Pipelines({"org-1/pipe-1": Pipeline("a/l2", {"build_branch": ["main", "nightly"]})})


def refused(claims: dict[str, object], pipelines: Pipelines = MAPPED) -> TokenRefusedError:
    """How a Buildkite token is refused."""
    with pytest.raises(TokenRefusedError) as refusal:
        buildkite_repository(lambda: pipelines)(BUILDKITE, claims)
    return refusal.value


@pytest.mark.parametrize("repo", ["a/b", "Ascend/pytorch", "torch-spyre/torch.spyre_1", "o/" + "n" * 100])
def test_github_names_the_repository_itself(repo: str) -> None:
    """In its own letter case: whose entry it is, the allowlist decides."""
    assert github_repository(GITHUB, {"repository": repo}) == repo


@pytest.mark.parametrize("claims", [{}, {"repository": ""}, {"repository": None}, {"repository": 7}])
def test_github_without_a_repository_speaks_for_nobody(claims: dict[str, object]) -> None:
    """401, naming the claim."""
    with pytest.raises(TokenRefusedError, match="missing 'repository' claim") as refusal:
        github_repository(GITHUB, claims)
    assert refusal.value.status == 401


@pytest.mark.parametrize("repo", ["a", "a/b/c", "/b", "a/", "a b/c", "../x", "a/b\n", "a/" + "n" * 101])
def test_a_claim_that_is_no_repository_is_refused(repo: str) -> None:
    """What is no name never becomes part of a path or a key."""
    with pytest.raises(TokenRefusedError, match="names no repository") as refusal:
        github_repository(GITHUB, {"repository": repo})
    assert refusal.value.detail.isprintable()


def test_a_pipeline_speaks_for_the_repository_it_is_registered_for() -> None:
    """Whatever the token says of repositories."""
    identify = buildkite_repository(lambda: MAPPED)
    assert identify(BUILDKITE, buildkite_claims(repository="a/l4")) == "a/l2"


@pytest.mark.parametrize("claim", ["organization_id", "pipeline_id"])
@pytest.mark.parametrize("value", ["", None, 7, ["org-1"]])
def test_without_both_ids_it_is_401(claim: str, value: object) -> None:
    """Naming the one that is missing."""
    refusal = refused(buildkite_claims(**{claim: value}))
    assert (refusal.status, f"'{claim}'" in refusal.detail) == (401, True)


def test_an_unknown_pipeline_is_403() -> None:
    """It proved who it is; it just may not speak."""
    refusal = refused(buildkite_claims(pipeline_id="pipe-2"))
    assert (refusal.status, refusal.detail) == (403, "Buildkite pipeline not registered: org-1/pipe-2")


@pytest.mark.parametrize(
    ("value", "allowed", "good"),
    [
        ("main", ["main", "nightly"], True),
        ("nightly", ["main", "nightly"], True),
        ("fork:main", ["main", "nightly"], False),
        ("Main", ["main"], False),
        ("", ["main"], False),
        (None, ["main"], False),
        (None, [""], True),
        (7, ["7"], True),
        (True, ["True"], True),
        ("main", [], False),
    ],
)
def test_a_required_claim_must_have_an_allowed_value(value: object, allowed: list[str], good: bool) -> None:
    """As text; an absent claim is the empty text; the refusal names the claim."""
    pipelines = Pipelines({"org-1/pipe-1": Pipeline("a/l2", {"build_branch": allowed})})
    claims = buildkite_claims(build_branch=value)
    if good:
        assert buildkite_repository(lambda: pipelines)(BUILDKITE, claims) == "a/l2"
    else:
        refusal = refused(claims, pipelines)
        assert (refusal.status, "build_branch" in refusal.detail) == (403, True)


def test_every_required_claim_counts() -> None:
    """One that fails is enough."""
    pipelines = Pipelines({"org-1/pipe-1": Pipeline("a/l2", {"build_branch": ["main"], "step_key": ["test"]})})
    assert "step_key" in refused(buildkite_claims(step_key="other"), pipelines).detail


def test_registrations_are_those_in_force_when_the_token_comes_in() -> None:
    """A pipeline that was struck out is struck out at once."""
    now = Pipelines()
    identify = buildkite_repository(lambda: now)
    assert identify(BUILDKITE, buildkite_claims()) == "a/l2"
    now.known.clear()
    with pytest.raises(TokenRefusedError, match="not registered"):
        identify(BUILDKITE, buildkite_claims())


def test_registrations_that_cannot_be_read_are_our_fault() -> None:
    """503: the caller did nothing wrong."""

    def unavailable() -> Registrations:
        raise AllowlistUnavailableError("no provider file was ever good")

    with pytest.raises(TokenRefusedError) as refusal:
        buildkite_repository(unavailable)(BUILDKITE, buildkite_claims())
    assert refusal.value.status == 503
