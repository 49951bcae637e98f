"""A run's log and what else it leaves behind, over HTTP."""

from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient

from relay.artifact_views import SelectionDocument
from relay.context import RelayContext
from relay.contract import LogKind, LogLine, LogPosted, Observation
from relay.log_views import LogLineView, LogPage
from relay.runs.run_log import accept_log
from relay.views import ApiError, TestView
from tests.relay.worker_story import NOW, arrive_and_plan, lease_id, must_lease, names, post_results, result, results

pytestmark = pytest.mark.both_setups

TEXTS = ("fetching", "<script>alert(1)</script>", "failed test_add", "done")


@pytest.fixture
def run_id(context: RelayContext) -> int:
    """A run whose shard has said four lines and reported one of two tests."""
    run_id = arrive_and_plan(context.store, [names(2)])
    leased = must_lease(context.store)
    lines = tuple(LogLine(at=number + 0.25, kind=LogKind.STEP, text=text) for number, text in enumerate(TEXTS))
    with context.store.writing() as session:
        accept_log(session, leased.shard.id, LogPosted(lease_id=lease_id(leased), first=0, lines=lines), NOW, 10_000)
    post_results(context.store, leased, results(leased, [result(names(1)[0], Observation.PASSED)]))
    return run_id


def page(client: TestClient, address: str) -> LogPage:
    reply = client.get(address)
    assert reply.status_code == 200, reply.text
    return LogPage.model_validate_json(reply.text)


def test_the_log_goes_on_by_next_and_is_followed_by_after(client: TestClient, run_id: int) -> None:
    path = f"/api/v1/runs/{run_id}/log"
    first = page(client, f"{path}?limit=3")
    assert [line.text for line in first.lines] == list(TEXTS[:3])
    assert first.next
    second = page(client, first.next)
    assert [line.text for line in second.lines] == list(TEXTS[3:])
    assert second.next is None
    assert page(client, f"{path}?after={second.last}").lines == ()
    assert [line.text for line in page(client, f"{path}?before={second.last}&limit=1").lines] == [TEXTS[2]]
    assert [line.text for line in page(client, f"{path}?tail=true&limit=2").lines] == list(TEXTS[2:])
    assert [line.text for line in page(client, f"{path}?q=FAILED").lines] == [TEXTS[2]]


def test_a_log_is_a_file_of_text_and_one_of_json_lines(client: TestClient, run_id: int) -> None:
    """No browser may take it for a page: it quotes upstream."""
    text = client.get(f"/api/v1/runs/{run_id}/log.txt")
    lines = page(client, f"/api/v1/runs/{run_id}/log").lines
    shard = lines[0].shard
    assert text.text.splitlines()[:2] == [
        f"[shard {shard}.1     0.250] fetching",
        f"[shard {shard}.1     1.250] <script>alert(1)</script>",
    ]
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    for name in ("log.txt", "log.jsonl", "selection.json", "results.json"):
        headers = client.get(f"/api/v1/runs/{run_id}/{name}").headers
        assert headers["content-disposition"] == f'attachment; filename="run-{run_id}.{name}"'
        assert headers["x-content-type-options"] == "nosniff"
    found = client.get(f"/api/v1/runs/{run_id}/log.jsonl").text.splitlines()
    assert tuple(LogLineView.model_validate_json(line) for line in found) == lines


def test_the_selection_and_the_results_are_files_of_json(client: TestClient, run_id: int) -> None:
    document = SelectionDocument.model_validate_json(client.get(f"/api/v1/runs/{run_id}/selection.json").text)
    assert [decision.kept for decision in document.decisions] == [True, False]
    assert len(document.filtered) == 1
    told = json.loads(client.get(f"/api/v1/runs/{run_id}/results.json").text)
    assert told["run"]["id"] == run_id
    tests = [TestView.model_validate(test) for test in told["tests"]]
    assert [(test.id, test.observation) for test in tests] == [
        (names(2)[0], Observation.PASSED),
        (names(2)[1], None),
    ]


@pytest.mark.parametrize("name", ["log", "log.txt", "log.jsonl", "selection.json", "results.json"])
def test_of_no_run_there_is_nothing(client: TestClient, name: str) -> None:
    reply = client.get(f"/api/v1/runs/4711/{name}")
    assert reply.status_code == 404
    assert ApiError.model_validate_json(reply.text).code == "not_found"


@pytest.mark.parametrize("query", ["after=x", "after=0.1", "before=99999999999.1", "shard=0", "limit=0", "cursor=x"])
def test_a_place_that_is_none_is_refused(client: TestClient, run_id: int, query: str) -> None:
    assert client.get(f"/api/v1/runs/{run_id}/log?{query}").status_code in {400, 422}


def test_a_run_without_a_log_has_an_empty_one(context: RelayContext, client: TestClient) -> None:
    run_id = arrive_and_plan(context.store, [names(1)])
    empty = page(client, f"/api/v1/runs/{run_id}/log")
    assert (empty.lines, empty.total, empty.earlier, empty.later) == ((), 0, False, False)
    assert client.get(f"/api/v1/runs/{run_id}/log.txt").text == ""
