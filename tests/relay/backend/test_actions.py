"""What a job says of itself from its environment, and the identity token that it asks for."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from relay.backend.actions import NoIdentity, job_of, tell_outputs, token_source
from relay.backend.reporting import BadReport

_ACTIONS = {
    "GITHUB_RUN_ID": "55",
    "GITHUB_RUN_ATTEMPT": "3",
    "GITHUB_WORKFLOW": "CI",
    "GITHUB_JOB": "build",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "a/l2",
}
_SERVICE = {
    "ACTIONS_ID_TOKEN_REQUEST_URL": "https://tokens.example/job?api-version=2",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token",
}


def test_a_job_of_github_actions_knows_its_run() -> None:
    job = job_of(_ACTIONS)
    assert (job.workflow, job.name, job.run_id, job.run_attempt) == ("CI", "build", "55", "3")
    assert job.url == "https://github.com/a/l2/actions/runs/55"


def test_the_ci_neutral_names_win_over_those_of_the_machine() -> None:
    """Another CI system may run on a machine of GitHub's."""
    own = {"RUN_ID": "0197-uuid", "RUN_ATTEMPT": "1", "WORKFLOW_NAME": "pipeline", "WORKFLOW_URL": "https://ci/1"}
    job = job_of(_ACTIONS | own, name="leg (3, 4)")
    assert (job.run_id, job.workflow, job.url, job.name) == ("0197-uuid", "pipeline", "https://ci/1", "leg (3, 4)")


def test_an_environment_that_names_no_run_is_told_what_is_missing() -> None:
    with pytest.raises(BadReport, match="RUN_ID, WORKFLOW_NAME missing"):
        job_of({"JOB_NAME": "build"})


def test_a_token_is_asked_for_the_relays_audience_each_time() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"value": f"token-{len(asked)}"})

    token = token_source(_SERVICE, httpx.MockTransport(answer))
    assert [token(), token()] == ["token-1", "token-2"]
    assert dict(asked[0].url.params) == {"api-version": "2", "audience": "pytorch-cross-repo-ci-relay"}
    assert asked[0].headers["authorization"] == "Bearer request-token"


def test_a_token_that_was_given_is_used_as_it_is() -> None:
    assert token_source(_SERVICE | {"OIDC_TOKEN": "given"})() == "given"


def test_a_job_without_a_token_service_has_no_identity() -> None:
    with pytest.raises(NoIdentity):
        token_source(_ACTIONS)


@pytest.mark.parametrize("answer", [httpx.Response(403, json={}), httpx.Response(200, json={"value": None})])
def test_a_token_service_that_gives_none_is_named(answer: httpx.Response) -> None:
    with pytest.raises(NoIdentity, match=str(answer.status_code)):
        token_source(_SERVICE, httpx.MockTransport(lambda _: answer))()


def test_a_token_service_that_stumbles_is_asked_again_by_the_caller() -> None:
    with pytest.raises(httpx.TransportError):
        token_source(_SERVICE, httpx.MockTransport(lambda _: httpx.Response(502)))()


def test_outputs_are_for_the_steps_that_follow(tmp_path: Path) -> None:
    file = tmp_path / "out"
    tell_outputs({"GITHUB_OUTPUT": str(file)}, {"conclusion": "success", "test-results": json.dumps({"passed": 1})})
    tell_outputs({"GITHUB_OUTPUT": str(file)}, {"run-url": "http://r/1"})
    assert file.read_text() == 'conclusion=success\ntest-results={"passed": 1}\nrun-url=http://r/1\n'
    tell_outputs({}, {"conclusion": "success"})
