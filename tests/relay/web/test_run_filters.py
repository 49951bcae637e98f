"""What the command line asks of the APIs: runs by repository, branch and end; history; named tests again."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import Observation
from relay.runs.creation import open_run
from relay.views import ApiError, RunEvent, RunHistory, RunPage
from tests.relay.worker_story import (
    NOW,
    arrive,
    arrive_and_plan,
    end,
    must_lease,
    names,
    new_run,
    post_results,
    result,
    results,
)

pytestmark = pytest.mark.both_setups


def _finished(context: RelayContext, *seen: Observation) -> int:
    run_id = arrive_and_plan(context.store, [names(len(seen))])
    leased = must_lease(context.store)
    done = [result(test.test_id, observation) for test, observation in zip(leased.tests, seen, strict=True)]
    post_results(context.store, leased, results(leased, done))
    end(context.store, leased)
    return run_id


def _ids(client: TestClient, query: str) -> list[int]:
    return [run.id for run in RunPage.model_validate_json(client.get(f"/api/v1/runs?{query}").text).runs]


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("repo=PyTorch/pytorch", True),
        ("repo=acme/torch", False),
        ("branch=main", True),
        ("branch=ma_n", False),
        ("branch=ma%25", False),
    ],
)
def test_runs_by_repository_and_branch(context: RelayContext, client: TestClient, query: str, matches: bool) -> None:
    """Repositories in any letter case as on GitHub, branches whole: nothing is a pattern."""
    run_id = arrive(context.store)
    assert _ids(client, query) == ([run_id] if matches else [])


def test_runs_by_device(context: RelayContext, client: TestClient) -> None:
    with context.store.writing() as session:
        spyre, quartz = (open_run(session, new_run(device=device), NOW).id for device in ("spyre", "quartz"))
    assert (_ids(client, "device=spyre"), _ids(client, "device=quartz")) == ([spyre], [quartz])
    assert _ids(client, "device=quart_") == []


def test_runs_by_what_they_ended_with(context: RelayContext, client: TestClient) -> None:
    """An unfinished run has no conclusion."""
    red = _finished(context, Observation.FAILED)
    green = _finished(context, Observation.PASSED)
    arrive(context.store)
    assert _ids(client, "conclusion=success") == [green]
    assert _ids(client, "conclusion=failure") == [red]


@pytest.mark.parametrize("query", ["repo=%00", "branch=%00", "device=%00", "conclusion=red"])
def test_a_filter_that_cannot_match_is_422(client: TestClient, query: str) -> None:
    """On every database alike."""
    assert client.get(f"/api/v1/runs?{query}").status_code == 422


def test_history_is_paged_and_says_when_it_is_whole(context: RelayContext, client: TestClient) -> None:
    """Pages joined are what the stream sends; a page that is full may have one after it."""
    run_id = _finished(context, Observation.PASSED)
    whole = RunHistory.model_validate_json(client.get(f"/api/v1/runs/{run_id}/history").text)
    assert (whole.over, whole.next_after) == (True, None)
    assert len(whole.events) > 2
    seen: list[RunEvent] = []
    after = 0
    while True:
        page = RunHistory.model_validate_json(client.get(f"/api/v1/runs/{run_id}/history?after={after}&limit=2").text)
        seen.extend(page.events)
        if page.next_after is None:
            break
        after = page.next_after
    assert tuple(seen) == whole.events


def test_history_of_a_run_that_goes_on_is_not_over(context: RelayContext, client: TestClient) -> None:
    """Nor is there any of a run that is not."""
    run_id = arrive(context.store)
    assert client.get(f"/api/v1/runs/{run_id}/history").json()["over"] is False
    assert client.get("/api/v1/runs/99/history").status_code == 404


def test_named_tests_again(context: RelayContext, client: TestClient, operator_auth: dict[str, str]) -> None:
    """The worker of the new run is told which; a test that the run had not is refused by name."""
    run_id = _finished(context, Observation.FAILED, Observation.PASSED)
    wanted = names(2)[1:]
    asked = f"/api/v1/runs/{run_id}/rerun"
    assert client.post(asked, json={"tests": wanted}, headers=operator_auth).status_code == 201
    assert must_lease(context.store).run.only == wanted
    refused = client.post(asked, json={"tests": ["a.py::T::x"]}, headers=operator_auth)
    assert (refused.status_code, ApiError.model_validate_json(refused.text).code) == (409, "not_planned")
