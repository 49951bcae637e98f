"""The operator API over HTTP: run again, cancel."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import Observation
from relay.views import ApiError, RunState, RunSummary
from tests.relay.worker_story import arrive, arrive_and_plan, end, must_lease, names, post_results, result, results
from tests.setups import wake_ups


def _finished(context: RelayContext, *seen: Observation) -> int:
    run_id = arrive_and_plan(context.store, [names(len(seen))])
    leased = must_lease(context.store)
    done = [result(test.test_id, observation) for test, observation in zip(leased.tests, seen, strict=True)]
    post_results(context.store, leased, results(leased, done))
    end(context.store, leased)
    return run_id


def test_run_again_opens_a_new_run_and_wakes_a_worker(
    context: RelayContext, client: TestClient, operator_auth: dict[str, str]
) -> None:
    """The answer is the new run, with where to look at it."""
    run_id = _finished(context, Observation.PASSED)
    response = client.post(f"/api/v1/runs/{run_id}/rerun", json={"failed": False}, headers=operator_auth)
    summary = RunSummary.model_validate_json(response.text)
    assert response.status_code == 201
    assert (summary.rerun_of, summary.attempt, summary.state) == (run_id, 2, RunState.RECEIVED)
    assert summary.url.endswith(f"/runs/{summary.id}")
    assert wake_ups(context.settings.broker_url, "spyre") == 1


def test_run_again_in_full_says_who_asked(
    context: RelayContext, client: TestClient, operator_auth: dict[str, str]
) -> None:
    """Also the run of a rerun, which does what the first did; its failed tests alone are no full run."""
    run_id = _finished(context, Observation.FAILED)
    answer = client.post(f"/api/v1/runs/{run_id}/rerun", json={"full": True}, headers=operator_auth)
    full = RunSummary.model_validate_json(answer.text)
    assert (answer.status_code, full.full) == (201, "an operator asked for every test")
    page = client.get(f"/runs/{full.id}").text
    assert "Everything runs: an operator asked for every test" in page


def test_all_and_only_the_failed_at_once_is_409(
    context: RelayContext, client: TestClient, operator_auth: dict[str, str]
) -> None:
    run_id = _finished(context, Observation.FAILED)
    answer = client.post(f"/api/v1/runs/{run_id}/rerun", json={"full": True, "failed": True}, headers=operator_auth)
    assert (answer.status_code, ApiError.model_validate_json(answer.text).code) == (409, "full_and_failed")


def test_run_again_needs_no_body(context: RelayContext, client: TestClient, operator_auth: dict[str, str]) -> None:
    """A bare POST means everything."""
    run_id = _finished(context, Observation.PASSED)
    assert client.post(f"/api/v1/runs/{run_id}/rerun", headers=operator_auth).status_code == 201


def test_only_the_failed_tests_again(context: RelayContext, client: TestClient, operator_auth: dict[str, str]) -> None:
    """The worker of the new run is told which."""
    run_id = _finished(context, Observation.FAILED, Observation.PASSED)
    assert client.post(f"/api/v1/runs/{run_id}/rerun", json={"failed": True}, headers=operator_auth).is_success
    assert must_lease(context.store).run.only == names(1)


@pytest.mark.parametrize("failed", [True, False])
def test_an_unfinished_run_is_409_with_the_way_out(
    context: RelayContext, client: TestClient, operator_auth: dict[str, str], failed: bool
) -> None:
    """The hint is a command."""
    run_id = arrive(context.store)
    response = client.post(f"/api/v1/runs/{run_id}/rerun", json={"failed": failed}, headers=operator_auth)
    error = ApiError.model_validate_json(response.text)
    assert (response.status_code, error.code) == (409, "run_unfinished")
    assert f"relay run cancel {run_id}" in error.hint


def test_nothing_failed_is_409_with_the_way_out(
    context: RelayContext, client: TestClient, operator_auth: dict[str, str]
) -> None:
    """The hint is a command."""
    run_id = _finished(context, Observation.PASSED)
    response = client.post(f"/api/v1/runs/{run_id}/rerun", json={"failed": True}, headers=operator_auth)
    error = ApiError.model_validate_json(response.text)
    assert (response.status_code, error.code) == (409, "nothing_failed")
    assert f"relay run rerun {run_id}" in error.hint


def test_cancelling_twice_is_answered_alike(
    context: RelayContext, client: TestClient, operator_auth: dict[str, str]
) -> None:
    """Idempotent, and a finished run is left as it is."""
    run_id = arrive(context.store)
    answers = [client.post(f"/api/v1/runs/{run_id}/cancel", headers=operator_auth) for _ in range(2)]
    assert [RunSummary.model_validate_json(answer.text).state for answer in answers] == [RunState.CANCELLED] * 2
    done = _finished(context, Observation.PASSED)
    answer = client.post(f"/api/v1/runs/{done}/cancel", headers=operator_auth)
    assert RunSummary.model_validate_json(answer.text).state is RunState.FINISHED


@pytest.mark.parametrize("verb", ["rerun", "cancel"])
@pytest.mark.parametrize("number", ["0", "999", "99999999999999999999"])
def test_an_unknown_run_is_404(client: TestClient, operator_auth: dict[str, str], verb: str, number: str) -> None:
    """Whatever its number."""
    response = client.post(f"/api/v1/runs/{number}/{verb}", headers=operator_auth)
    assert (response.status_code, ApiError.model_validate_json(response.text).code) == (404, "not_found")


@pytest.mark.parametrize("verb", ["rerun", "cancel"])
def test_only_operators_pass(context: RelayContext, client: TestClient, worker_auth: dict[str, str], verb: str) -> None:
    """No token and the workers' token are refused, and nothing happens."""
    run_id = arrive(context.store)
    for headers in ({}, worker_auth):
        response = client.post(f"/api/v1/runs/{run_id}/{verb}", headers=headers)
        expected = (403, "forbidden") if headers else (401, "unauthorized")
        assert (response.status_code, ApiError.model_validate_json(response.text).code) == expected
    assert must_lease(context.store).run.id == run_id
