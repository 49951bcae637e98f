"""For whom a bearer token speaks (OI, BK01 to BK07, BK15)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import datetime

import httpx2 as httpx
import jwt
import pytest

from relay.allowlist.providers import Providers, parse_providers
from relay.oidc.issuers import BUILDKITE, BUILDKITE_ISSUER, GITHUB, GITHUB_ISSUER
from relay.oidc.verifier import AUDIENCE
from relay.settings import RelaySettings
from tests.conformance.answering import answer, dispatched, jobs, nothing_happened
from tests.conformance.world import World

ORG, PIPELINE, FREE = "0d1e-org", "7a8b-pipeline", "9c9c-pipeline"
ROGUE = "https://rogue.invalid"

FILE = f"""\
providers:
  buildkite:
    issuer: {ROGUE}
    jwks_uri: {ROGUE}/.well-known/jwks
    repo_map:
      "{ORG}/{PIPELINE}":
        repo: a/l2
        required_claims:
          build_branch: [main, nightly]
      "{ORG}/{FREE}": a/l2
"""


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """These rows are about the door: nothing is sent on from it."""
    return conformance_settings.model_copy(update={"hud_url": ""})


@pytest.fixture
def providers() -> Providers:
    """Two pipelines of `a/l2`, one of them for two branches only, and an issuer that the file would like to add."""
    return parse_providers(FILE)


def called(world: World, token: str, repo: str = "a/l2") -> httpx.Response:
    """The answer to the right body with this token."""
    return world.callback(answer(world, repo=repo), token=token)


def refused(world: World, token: str, status: int = 401) -> str:
    """Why a token is refused: nothing comes of the call."""
    dispatched(world)
    answered = called(world, token)
    assert answered.status_code == status
    assert nothing_happened(world)
    return str(answered.json()["detail"])


def accepted(world: World, token: str, repo: str = "a/l2") -> None:
    """A token opens the door for this repository, and for no other."""
    dispatched(world)
    answered = called(world, token, repo)
    assert (answered.status_code, answered.json()) == (200, {"ok": True, "status": "in_progress"})
    assert [job.repo for job in jobs(world)] == [repo]


def buildkite(world: World, pipeline: str = FREE, organization: str = ORG, /, **claims: object) -> str:
    """A token of a Buildkite job."""
    return world.tokens.buildkite(organization, pipeline, world.clock(), **claims)


def at(world: World, seconds: float) -> int:
    """A moment as tokens state it, so many seconds from now."""
    return int(world.clock().timestamp() + seconds)


@pytest.mark.row("OI01")
def test_a_good_token_speaks_for_the_repository_it_names(world: World) -> None:
    """Whatever the body says of itself; audience and issuer are both judged (OI02, OI08)."""
    accepted(world, world.token("a/l4"), "a/l4")


@pytest.mark.row("OI02")
@pytest.mark.parametrize("audience", ["somebody-else", AUDIENCE.upper(), AUDIENCE + "x", ["x", "y"], [], None])
def test_another_audience_is_401(world: World, audience: object) -> None:
    """A token made for another service is no token for ours."""
    assert refused(world, world.token(aud=audience)).startswith("Invalid authorization token")


@pytest.mark.row("OI03")
@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "bEARER  ", ""])
def test_the_scheme_may_be_written_in_any_case_or_not_at_all(world: World, scheme: str) -> None:
    """The same result."""
    dispatched(world)
    header = {"Authorization": scheme + world.token()}
    assert world.callback(answer(world), token="", headers=header).status_code == 200
    assert len(jobs(world)) == 1


@pytest.mark.row("OI04")
@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", " "])
def test_an_empty_token_is_missing(world: World, header: str) -> None:
    """401, and says so."""
    dispatched(world)
    answered = world.callback(answer(world), token="", headers={"Authorization": header})
    assert (answered.status_code, answered.json()) == (401, {"detail": "Missing authorization token"})
    assert nothing_happened(world)


@pytest.mark.row("OI05")
@pytest.mark.both_modes
def test_keys_that_cannot_be_had(world: World) -> None:
    """The original's 401; ours is no fault of the caller, who may repeat the same call and then is heard."""
    world.tokens.down = True
    token = world.token()
    detail = refused(world, token, 401 if world.strict else 503)
    assert "down" not in detail
    world.tokens.down = False
    world.clock.tick(60)
    assert called(world, token).status_code == 200


@pytest.mark.row("OI05")
def test_callers_are_told_when_to_come_again(world: World) -> None:
    """Ours only: the original's answer asks for nothing."""
    world.tokens.down = True
    dispatched(world)
    assert int(called(world, world.token()).headers["Retry-After"]) > 0


@pytest.mark.row("OI06")
@pytest.mark.parametrize("repository", [None, ""])
def test_a_token_without_a_repository_is_401(world: World, repository: str | None) -> None:
    """Naming what is missing."""
    token = world.token(repository=repository)
    assert refused(world, token) == "GitHub OIDC token missing 'repository' claim"


@pytest.mark.row("OI07")
@pytest.mark.parametrize(("issuer", "by"), [(GITHUB_ISSUER, BUILDKITE_ISSUER), (BUILDKITE_ISSUER, GITHUB_ISSUER)])
@pytest.mark.parametrize("borrowed", [False, True])
def test_a_token_of_one_issuer_that_claims_another_is_401(world: World, issuer: str, by: str, borrowed: bool) -> None:
    """Also when it borrows the other's key id."""
    claims: dict[str, object] = {"repository": "a/l2", "organization_id": ORG, "pipeline_id": FREE}
    token = world.tokens.signed(issuer, world.clock(), claims, by=by)
    if borrowed:
        token = renamed(token, f"key of {issuer}", world, by)
    assert refused(world, token).startswith("Invalid authorization token")


def renamed(token: str, kid: str, world: World, by: str) -> str:
    """The same claims under another key id, signed with the same key."""
    claims = jwt.decode(token, options={"verify_signature": False})
    return jwt.encode(claims, world.tokens.keys[by], algorithm="RS256", headers={"kid": kid})


@pytest.mark.row("OI08")
@pytest.mark.parametrize("issuer", [ROGUE, GITHUB_ISSUER + "/", GITHUB_ISSUER.replace("https", "http"), "", None])
def test_an_unknown_issuer_is_401(world: World, issuer: str | None) -> None:
    """Or none at all; it is quoted."""
    detail = refused(world, world.token(iss=issuer))
    assert detail == f"Unsupported OIDC issuer: {'none' if issuer is None else issuer}"


@pytest.mark.row("OI08")
@pytest.mark.parametrize("token", ["garbage", "a.b.c", "..", "[[[[" * 1_000])
def test_what_is_no_token_has_no_issuer(world: World, token: str) -> None:
    """401, not an accident."""
    dispatched(world)
    answered = called(world, token)
    assert answered.status_code == 401
    assert answered.json()["detail"].startswith("Unsupported OIDC issuer")
    assert nothing_happened(world)


@pytest.mark.row("OI09")
def test_an_expired_token_is_401(world: World) -> None:
    """Good until its end, and half a minute for clocks that differ."""
    token = world.token()
    world.clock.tick(300 + 30)
    assert refused(world, token).startswith("Invalid authorization token")


@pytest.mark.row("OI10")
def test_a_token_without_an_end(world: World) -> None:
    """The original takes it for ever; ours never."""
    token = world.token(exp=None)
    if world.strict:
        accepted(world, token)
    else:
        assert "no 'exp' claim" in refused(world, token)


@pytest.mark.row("OI11")
@pytest.mark.parametrize("algorithm", ["HS256", "none", "None", "RS512", "PS256"])
def test_only_rs256_counts(world: World, algorithm: str) -> None:
    """Neither a shared secret nor no signature, nor the same key in another way."""
    refused(world, otherwise(world, algorithm))


def otherwise(world: World, algorithm: str) -> str:
    """A token of right claims under the right key's id, signed in another way."""
    claims = jwt.decode(world.token(), options={"verify_signature": False})
    headers = {"kid": f"key of {GITHUB_ISSUER}"}
    if algorithm in ("RS512", "PS256"):
        return jwt.encode(claims, world.tokens.keys[GITHUB_ISSUER], algorithm, headers)
    if algorithm == "HS256":
        return jwt.encode(claims, "s" * 64, algorithm, headers)
    return f"{_part({'alg': algorithm, 'typ': 'JWT', **headers})}.{_part(claims)}."


def _part(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.mark.row("OI14")
def test_ours_may_be_one_of_several_audiences(world: World) -> None:
    """`aud` may be a list."""
    accepted(world, world.token(aud=["somebody-else", AUDIENCE]))


@pytest.mark.row("OI15")
def test_a_token_that_is_not_valid_yet_is_401(world: World) -> None:
    """By more than clocks differ; a little later it is good."""
    token = world.token(nbf=at(world, 90))
    assert refused(world, token).startswith("Invalid authorization token")
    world.clock.tick(60)
    assert called(world, token).status_code == 200


@pytest.mark.row("OI12")
def test_both_issuers_are_trusted_without_any_setting(world: World) -> None:
    """They are compiled in, with the addresses of their keys."""
    assert world.context.settings.dev_oidc_issuer == ""
    assert [issuer.keys_url for issuer in (GITHUB, BUILDKITE)] == [
        "https://token.actions.githubusercontent.com/.well-known/jwks",
        "https://agent.buildkite.com/.well-known/jwks",
    ]
    dispatched(world)
    for number, token in enumerate((world.token(), buildkite(world))):
        body = answer(world, job_name=f"job {number}")
        assert world.callback(body, token=token).status_code == 200


@pytest.mark.row("OI13")
def test_the_provider_file_cannot_add_an_issuer(world: World) -> None:
    """It names one, with its keys' address; its tokens are those of a stranger."""
    world.tokens.keys[ROGUE] = world.tokens.keys[GITHUB_ISSUER]
    claims: dict[str, object] = {"organization_id": ORG, "pipeline_id": FREE, "repository": "a/l2"}
    try:
        token = world.tokens.signed(ROGUE, world.clock(), claims)
        assert refused(world, token) == f"Unsupported OIDC issuer: {ROGUE}"
    finally:
        del world.tokens.keys[ROGUE]


@pytest.mark.row("BK01")
def test_a_registered_pipeline_speaks_for_its_repository(world: World) -> None:
    """By its immutable ids."""
    accepted(world, buildkite(world))


@pytest.mark.row("BK02")
@pytest.mark.parametrize(("organization", "pipeline"), [(ORG, "other"), ("other", FREE), (FREE, ORG), ("", f"{ORG}/x")])
def test_an_unregistered_pipeline_is_403(world: World, organization: str, pipeline: str) -> None:
    """It proved who it is, and may not speak. (Without an id it is 401, BK03.)"""
    detail = refused(world, buildkite(world, pipeline, organization), 403 if organization else 401)
    assert ("not registered" in detail) is bool(organization)


@pytest.mark.row("BK03")
@pytest.mark.parametrize("claim", ["organization_id", "pipeline_id"])
@pytest.mark.parametrize("value", ["", None])
def test_a_pipeline_without_both_ids_is_401(world: World, claim: str, value: str | None) -> None:
    """Naming the one that is missing."""
    assert f"'{claim}'" in refused(world, buildkite(world, FREE, ORG, **{claim: value}))


@pytest.mark.row("BK04")
def test_a_pipeline_asks_for_the_same_audience(world: World) -> None:
    """Another is 401 there too."""
    assert refused(world, buildkite(world, aud="somebody-else")).startswith("Invalid authorization token")


@pytest.mark.row("BK05")
@pytest.mark.parametrize("branch", ["main", "nightly"])
def test_a_required_claim_with_an_allowed_value_is_good(world: World, branch: str) -> None:
    """Any of them."""
    accepted(world, buildkite(world, PIPELINE, build_branch=branch))


@pytest.mark.row("BK06")
@pytest.mark.parametrize("branch", ["contributor:main", "Main", "main ", "", "main,nightly", ["main"]])
def test_a_required_claim_with_another_value_is_403(world: World, branch: object) -> None:
    """Naming the claim."""
    assert "build_branch" in refused(world, buildkite(world, PIPELINE, build_branch=branch), 403)


@pytest.mark.row("BK07")
def test_a_required_claim_that_is_absent_is_403(world: World) -> None:
    """As if it were empty."""
    assert "build_branch" in refused(world, buildkite(world, PIPELINE), 403)


@pytest.mark.row("BK15")
@pytest.mark.parametrize("said", ["a/l4", "stranger/repo", ""])
def test_a_pipelines_own_word_about_its_repository_counts_nothing(world: World, said: str) -> None:
    """Whoever may edit a pipeline may make it say anything."""
    accepted(world, buildkite(world, repository=said))


@pytest.mark.row("OI09")
def test_a_moment_is_the_relays(world: World) -> None:
    """A token made for the world's own time is good whatever the machine's clock says."""
    assert world.clock() != datetime.now(tz=world.clock().tzinfo)
    accepted(world, world.token())
