"""The read API answers whole views, refuses odd questions with a reason, and needs no token."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import FilteredTest
from relay.manifests import ManifestStore
from relay.views import ApiError, DecisionPage, Health, RunDetail, RunPage, TestPage, Verdict
from tests.relay.stories import Story, base_of, dropped, planned, regressed, report_of

TESTS = [f"test/test_demo_ops.py::TestDemoOpsSPYRE::test_op{number}__float32" for number in range(5)]


@pytest.fixture
def run_id(context: RelayContext) -> int:
    """A finished run with one regression, one test filtered and two left out."""
    story = Story(context.store)
    run = story.open()
    filtered = [FilteredTest(id=f"{TESTS[0]}_f16", base=base_of(TESTS[0]), rule="tag", provenance="d.yaml:3")]
    left = [dropped(f"test/test_nn.py::TestNN::test_{number}") for number in range(2)]
    story.select(report_of([[planned(test) for test in TESTS]], filtered=filtered, left_out=left))
    story.run_all({TESTS[3]: regressed(TESTS[3], "boom")})
    return run


def test_health_and_version_say_what_runs_here(client: TestClient) -> None:
    assert client.get("/api/v1/health").json() == {
        "status": "ok",
        "database": "ok",
        "device": "spyre",
        "devices": ["spyre"],
        "manifest_problem": "",
    }
    assert client.get("/api/v1/version").json()["version"]


def test_a_bad_manifest_is_told_by_health_and_on_every_page(client: TestClient, context: RelayContext) -> None:
    """The service stays healthy, and its readers learn that the folder is not what is used."""
    (context.settings.manifest_dir / "ops.yaml").write_text("test_suite_config: {files: 7}\n", encoding="utf-8")
    health = Health.model_validate_json(client.get("/api/v1/health").content)
    assert health.status == "ok"
    assert "ops.yaml:1" in health.manifest_problem
    other = replace(context.backends[0], device="quartz", manifests=ManifestStore(Path("/no/folder")))
    object.__setattr__(context, "backends", (*context.backends, other))
    of_each = client.get("/api/v1/health").json()["manifest_problem"]
    assert of_each.startswith("spyre: ops.yaml:1")
    assert "quartz: the manifest folder /no/folder does not exist" in of_each
    assert "ops.yaml:1" in client.get("/").text
    (context.settings.manifest_dir / "ops.yaml").unlink()
    assert "ops.yaml:1" not in client.get("/").text


def test_the_list_the_detail_and_the_pages_are_the_shared_views(client: TestClient, run_id: int) -> None:
    page = RunPage.model_validate_json(client.get("/api/v1/runs").content)
    assert [run.id for run in page.runs] == [run_id]
    detail = RunDetail.model_validate_json(client.get(f"/api/v1/runs/{run_id}").content)
    assert detail.run == page.runs[0]
    assert (detail.kept, detail.dropped, detail.filtered) == (5, 2, 1)
    tests = TestPage.model_validate_json(client.get(f"/api/v1/runs/{run_id}/tests").content)
    assert (tests.total, tests.tests[0].id, tests.tests[0].verdict) == (5, TESTS[3], Verdict.REGRESSION)
    decisions = DecisionPage.model_validate_json(client.get(f"/api/v1/runs/{run_id}/decisions").content)
    assert (decisions.total, len(decisions.filtered)) == (7, 1)


def test_filters_reach_the_record(client: TestClient, run_id: int) -> None:
    assert client.get("/api/v1/runs", params={"state": "running"}).json()["runs"] == []
    assert len(client.get("/api/v1/runs", params={"pr": 7, "state": "finished"}).json()["runs"]) == 1
    tests = client.get(f"/api/v1/runs/{run_id}/tests", params={"verdict": "ok", "limit": 2, "offset": 3}).json()
    assert (tests["total"], len(tests["tests"])) == (4, 1)
    left = client.get(f"/api/v1/runs/{run_id}/decisions", params={"kept": "false", "q": "test_1"}).json()
    assert [decision["test"] for decision in left["decisions"]] == ["test/test_nn.py::TestNN::test_1"]


@pytest.mark.parametrize("path", ["", "/tests", "/decisions", "/events"])
def test_an_unknown_run_is_404_with_a_hint(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/v1/runs/4711{path}")
    assert answer.status_code == 404
    error = ApiError.model_validate_json(answer.content)
    assert error.code == "not_found"
    assert "4711" in error.message
    assert error.hint


@pytest.mark.parametrize(
    "query",
    [
        "/runs?state=odd",
        "/runs?limit=0",
        "/runs?limit=501",
        "/runs?pr=x",
        "/runs?before=99999999999",
        "/runs/abc",
        "/runs/99999999999999999999",
        "/runs/1/tests?offset=-1",
        "/runs/1/tests?verdict=bad",
        f"/runs/1/decisions?q={'x' * 201}",
    ],
)
def test_an_odd_question_is_refused_with_its_reason(client: TestClient, query: str) -> None:
    answer = client.get(f"/api/v1{query}")
    assert answer.status_code == 422
    assert ApiError.model_validate_json(answer.content).code == "invalid_request"
