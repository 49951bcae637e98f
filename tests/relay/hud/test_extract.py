"""A report, flattened: which column comes from where, and what is not believed."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.hud.errors import HudError
from relay.hud.extract import flatten
from tests.relay.hud.reports import SHA, envelope, pull


def _columns(*arguments: Any, strict: bool = False, **report: Any) -> dict[str, Any]:
    return dict(flatten(envelope(*arguments, **report), strict=strict).columns)


def test_a_start_is_flattened_to_the_columns_of_a_row() -> None:
    assert _columns(queue_time=12.5, started_at="2026-11-02T09:00:00Z") == {
        "status": "in_progress",
        "downstream_repo": "a/l2",
        "downstream_repo_level": "L2",
        "upstream_repo": "pytorch/pytorch",
        "pr_number": 7,
        "pytorch_head_sha": SHA,
        "delivery_id": "d1",
        "event_type": "pull_request",
        "workflow_name": "CI",
        "workflow_run_url": "https://github.com/a/l2/actions/runs/100",
        "job_name": "build",
        "check_run_id": "900",
        "run_id": "100",
        "run_attempt": 1,
        "queue_time": 12.5,
        "started_at": datetime(2026, 11, 2, 9, tzinfo=UTC),
    }


@pytest.mark.parametrize(
    ("payload", "pull_number", "sha"),
    [
        ({}, 0, "d1"),
        ({"ref": "refs/tags/ciflow/trunk/42", "after": SHA}, 42, SHA),
        ({"ref": "refs/tags/ciflow/trunk/42", "after": "0" * 40}, 0, "d1"),
        ({"ref": "refs/tags/ciflow/trunk/42"}, 0, "d1"),
        ({"ref": "refs/tags/ciflow/trunk/42/x", "after": SHA}, 0, SHA),
        ({"ref": "refs/tags/ciflow/trunk/42\n", "after": SHA}, 42, SHA),
        ({"ref": "refs/heads/main", "after": SHA}, 0, SHA),
        ({"head_sha": SHA}, 0, SHA),
        ({"pull_request": {"number": "7"}}, 0, "d1"),
        ({"pull_request": {"number": True}}, 0, "d1"),
        ({"pull_request": {"number": 10**30}}, 0, "d1"),
        ({"pull_request": {"number": -1, "head": []}}, 0, "d1"),
        ({"pull_request": []}, 0, "d1"),
        ([], 0, "d1"),
    ],
)
def test_what_was_tested_is_found_where_events_tell_it(payload: Any, pull_number: int, sha: str) -> None:
    columns = _columns(payload=payload)
    assert (columns["pr_number"], columns["pytorch_head_sha"]) == (pull_number, sha)


@pytest.mark.parametrize("event", ["nightly", "periodic"])
def test_a_self_report_is_no_result_of_a_pull_request(event: str) -> None:
    """Nobody checked its echo; the original believes it."""
    payload = pull(8, "b" * 40) | {"head_sha": SHA}
    assert (
        _columns(event=event, payload=payload)["pr_number"],
        _columns(event=event, payload=payload)["pytorch_head_sha"],
    ) == (0, SHA)
    assert _columns(event=event, payload=payload, strict=True)["pr_number"] == 8


@pytest.mark.parametrize(("strict", "sha"), [(False, SHA), (True, "buildkite-89-1")])
def test_a_commit_is_found_in_the_side_field_of_a_public_reporter(strict: bool, sha: str) -> None:
    columns = _columns(
        event="nightly", delivery="buildkite-89-1", payload={}, top={"pytorch_head_sha": SHA}, strict=strict
    )
    assert columns["pytorch_head_sha"] == sha


@pytest.mark.parametrize(
    ("told", "column", "value"),
    [
        ({"run_attempt": "3"}, "run_attempt", 3),
        ({"run_attempt": ...}, "run_attempt", 1),
        ({"run_attempt": 0}, "run_attempt", 1),
        ({"run_attempt": -2}, "run_attempt", 1),
        ({"run_attempt": 2**40}, "run_attempt", 1),
        ({"run_attempt": "x"}, "run_attempt", 1),
        ({"run_attempt": True}, "run_attempt", 1),
        ({"run_id": ...}, "run_id", ""),
        ({"run_id": 100}, "run_id", "100"),
        ({"run_id": "01a0ba19-c6f0"}, "run_id", "01a0ba19-c6f0"),
        ({"run_id": 10**5_000}, "run_id", ""),
        ({"check_run_id": 900}, "check_run_id", "900"),
        ({"url": "javascript:alert(1)"}, "workflow_run_url", ""),
        ({"url": "https://"}, "workflow_run_url", ""),
        ({"url": "https://[broken"}, "workflow_run_url", ""),
        ({"url": ...}, "workflow_run_url", ""),
    ],
)
def test_a_column_that_every_report_has_takes_the_nearest_usable_value(
    told: dict[str, Any], column: str, value: Any
) -> None:
    assert _columns(**told)[column] == value


@pytest.mark.parametrize(
    ("report", "column"),
    [
        ({"level": None}, "downstream_repo_level"),
        ({"level": ""}, "downstream_repo_level"),
        ({"event": ""}, "event_type"),
        ({"event": None}, "event_type"),
        ({"queue_time": None}, "queue_time"),
        ({"queue_time": float("nan")}, "queue_time"),
        ({"queue_time": "12"}, "queue_time"),
        ({"execution_time": None}, "execution_time"),
        ({"started_at": None}, "started_at"),
        ({"started_at": "yesterday"}, "started_at"),
        ({"started_at": 1_700_000_000}, "started_at"),
        ({"artifact_url": ...}, "artifact_url"),
        ({"artifact_url": "ftp://x.org/a"}, "artifact_url"),
        ({"conclusion": "success"}, "conclusion"),
        ({"completed_at": "2026-11-02T09:00:00Z"}, "completed_at"),
        ({"test_results": {"passed": 1}}, "total_tests"),
        ({"failed_tests_detail": [{"name": "t"}]}, "failed_tests_json"),
        ({"status": "completed", "conclusion": None}, "conclusion"),
        ({"status": "completed", "test_results": []}, "total_tests"),
        ({"status": "completed", "test_results": {"failed": "3"}}, "failed_tests"),
        ({"status": "completed", "test_results": {"failed": -3}}, "failed_tests"),
        ({"status": "completed", "test_results": {"failed": float("inf")}}, "failed_tests"),
        ({"status": "completed", "failed_tests_detail": {"name": "t"}}, "failed_tests_json"),
    ],
)
def test_a_column_that_is_not_told_is_left_out(report: dict[str, Any], column: str) -> None:
    """So that it keeps what an earlier report told; what a running job says of its end is not believed."""
    assert column not in _columns(**report)


@pytest.mark.parametrize(
    ("results", "counts"),
    [
        ({"passed": 80, "failed": 3, "skipped": 7}, (80, 3, 7, 90)),
        ({"passed": 80, "failed": 3, "skipped": 7, "total": 100}, (80, 3, 7, 100)),
        ({"passed": 80.0}, (80, None, None, 80)),
        ({"passed": True, "total": "9"}, (None, None, None, 0)),
    ],
)
def test_tests_are_counted(results: dict[str, Any], counts: tuple[int | None, ...]) -> None:
    columns = _columns("completed", test_results=results)
    names = ("passed_tests", "failed_tests", "skipped_tests", "total_tests")
    assert tuple(columns.get(name) for name in names) == counts


def test_of_the_failed_tests_fifty_are_kept_and_of_each_five_hundred_characters() -> None:
    details = [{"name": f"t{number}", "message": "m\n" * 450, "duration": 1.5} for number in range(60)]
    kept = json.loads(_columns("completed", failed_tests_detail=["no test", *details])["failed_tests_json"])
    assert len(kept) == 49
    assert kept[0] == {"name": "t0", "message": ("m\n" * 450)[:500], "duration": 1.5}


@pytest.mark.parametrize(
    ("report", "field"),
    [
        ({"job_name": ...}, "workflow.job_name"),
        ({"job_name": ""}, "workflow.job_name"),
        ({"job_name": ["build"]}, "workflow.job_name"),
        ({"check_run_id": ...}, "workflow.check_run_id"),
        ({"check_run_id": None}, "workflow.check_run_id"),
        ({"name": ...}, "workflow.name"),
        ({"status": None}, "workflow.status"),
        ({"delivery": ""}, "delivery_id"),
        ({"repo": ""}, "trusted.verified_repo"),
        ({"repo": "a/" + "b" * 300}, "trusted.verified_repo"),
    ],
)
def test_what_names_the_row_must_be_there(report: dict[str, Any], field: str) -> None:
    with pytest.raises(HudError) as refused:
        flatten(envelope(**report))
    assert refused.value.status == 400
    assert field in refused.value.message


@pytest.mark.parametrize("event", ["nightly", "periodic"])
def test_a_self_report_needs_no_check_run(event: str) -> None:
    assert _columns(event=event, check_run_id=None)["check_run_id"] == ""


@pytest.mark.parametrize("broken", [None, [], "text", {}, {"trusted": {}}, {"trusted": {"verified_repo": "a/b"}}])
def test_an_envelope_of_another_form_is_refused(broken: object) -> None:
    with pytest.raises(HudError) as refused:
        flatten(broken)
    assert refused.value.status == 400


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_PLACES = st.sampled_from(
    [
        *("status", "name", "url", "job_name", "check_run_id", "run_id", "run_attempt", "conclusion", "started_at"),
        *("completed_at", "artifact_url", "test_results", "failed_tests_detail"),
    ]
)


@given(place=_PLACES, value=_JSON, payload=_JSON)
def test_no_value_anywhere_is_more_than_refused(place: str, value: Any, payload: Any) -> None:
    """Any JSON value in any place of a report either makes a row or is refused with a sentence."""
    report = envelope("completed")
    report["untrusted"]["callback_payload"]["workflow"][place] = value
    report["untrusted"]["callback_payload"]["payload"] = payload
    with suppress(HudError):
        columns = flatten(report).columns
        json.dumps({name: str(told) for name, told in columns.items()}, allow_nan=False)
