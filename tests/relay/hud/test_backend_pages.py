"""One backend's pages: which jobs are on which, and what a line holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from relay.hud.matrix import asked_for, pull_request_matrix, scheduled_matrix
from relay.store.engine import Store
from tests.relay.hud.told import ask, told

_S1, _S2 = "1" * 40, "2" * 40


def _hours(number: float) -> timedelta:
    return timedelta(hours=number)


def test_a_page_holds_all_jobs_of_its_pull_requests(store: Store) -> None:
    """Pull requests by their newest job; what is older than the range, of another backend, or of none is not there."""
    told(store, pr=1, ago=_hours(1))
    told(store, pr=2, ago=_hours(2))
    told(store, None, pr=1, ago=_hours(3), job_name="test")
    told(store, pr=3, ago=timedelta(days=8))
    told(store, pr=4, repo="a/other")
    told(store, pr=0)
    pages = [
        [row["pr_number"] for row in ask(store, "crcr_backend_dashboard", repo="a/l2", days=7, per_page=1, offset=at)]
        for at in range(3)
    ]
    assert pages == [[1, 1], [2], []]


def test_a_row_has_the_columns_that_readers_know(store: Store) -> None:
    results = {"passed": 1, "failed": 2, "skipped": 3}
    told(store, "failure", took=timedelta(seconds=90.9), test_results=results, queue_time=5, execution_time=80)
    (row,) = ask(store, "crcr_backend_dashboard", repo="a/l2", days=7, per_page=50, offset=0)
    known = {
        "upstream_repo": "pytorch/pytorch",
        "pr_number": 7,
        "pytorch_head_sha": "a" * 40,
        "workflow_name": "CI",
        "job_name": "build",
        "check_run_id": "900",
        "run_id": "100",
        "run_attempt": 1,
        "status": "completed",
        "conclusion": "failure",
        "started_at": "2026-11-02T11:00:00.000000Z",
        "duration_seconds": 90,
        "completed_at": "2026-11-02T11:01:30.900000Z",
        "total_tests": 6,
        "passed_tests": 1,
        "failed_tests": 2,
        "skipped_tests": 3,
        "workflow_run_url": "https://github.com/a/l2/actions/runs/100",
        "artifact_url": "",
        "queue_time": 5.0,
        "execution_time": 80.0,
    }
    assert known.items() <= row.items()


def test_an_old_commit_that_is_tried_again_is_still_the_old_one(store: Store) -> None:
    """Whether or not its first attempt is within the range."""
    told(store, "failure", sha=_S1, ago=timedelta(days=9))
    told(store, "success", sha=_S2, ago=timedelta(days=2), delivery="d2", run_id="2")
    told(store, "failure", sha=_S1, ago=_hours(1), run_attempt=2)
    rows = ask(store, "crcr_backend_dashboard", repo="a/l2", days=7, per_page=50, offset=0)
    (line,) = pull_request_matrix(rows).lines
    assert (line.sha, [old.sha for old in line.history]) == (_S2, [_S1])


def test_pages_of_pull_requests_follow_each_other(store: Store) -> None:
    for number in range(1, 8):
        told(store, pr=number, ago=_hours(number))
    seen = []
    for page in (1, 2, 3):
        rows = ask(store, "crcr_backend_dashboard", repo="a/l2", days=7, **asked_for(page, page_size=3))
        matrix = pull_request_matrix(rows, page=page, page_size=3)
        seen.append(([line.pr_number for line in matrix.lines], matrix.has_next))
    assert seen == [([1, 2, 3], True), ([4, 5, 6], True), ([7], False)]


def test_a_scheduled_run_is_whole_and_has_the_last_attempts(store: Store) -> None:
    """One job in the range brings those of the same commit that are not."""
    nightly: dict[str, Any] = {"event": "nightly", "pr": 0, "sha": _S1, "delivery": _S1}
    told(store, ago=timedelta(days=8), job_name="early", **nightly)
    told(store, "failure", ago=_hours(3), job_name="late", **nightly)
    told(store, "success", ago=_hours(2), job_name="late", run_attempt=2, **nightly)
    rows = ask(store, "crcr_nightly_dashboard", repo="a/l2", days=7)
    assert [(row["job_name"], row["run_attempt"]) for row in rows] == [("late", 2), ("early", 1)]


def test_scheduled_runs_of_one_build_are_one_whatever_their_deliveries(store: Store) -> None:
    for number in range(4):
        delivery = f"buildkite-89-{number}"
        told(store, event="nightly", pr=0, payload={}, delivery=delivery, run_id="89", job_name=f"j{number}")
    told(store, event="nightly", pr=0, payload={}, delivery="x", run_id="90", ago=_hours(3))
    pages = [ask(store, "crcr_nightly_dashboard", repo="a/l2", days=7, per_page=1, offset=at) for at in range(3)]
    assert [len(page) for page in pages] == [4, 1, 0]
    assert len(scheduled_matrix(pages[0]).lines) == 1


def test_a_build_that_tests_two_commits_is_two_runs(store: Store) -> None:
    for sha in (_S1, _S2):
        told(store, event="nightly", pr=0, sha=sha, delivery=sha)
    told(store, event="nightly", pr=0, payload={}, delivery="nameless")
    pages = [ask(store, "crcr_nightly_dashboard", repo="a/l2", days=7, per_page=1, offset=at) for at in range(4)]
    assert [len(page) for page in pages] == [1, 1, 1, 0]


@pytest.mark.parametrize("event", ["nightly", "periodic"])
def test_each_scheduled_event_has_a_page_of_its_own(store: Store, event: str) -> None:
    told(store, event="nightly", pr=0)
    told(store, event="periodic", pr=0, job_name="other")
    rows = ask(store, "crcr_nightly_dashboard", repo="a/l2", days=7, event_type=event)
    assert [row["job_name"] for row in rows] == ["build" if event == "nightly" else "other"]
