"""What a backend's job tells the relay that dispatched it: the body of a callback, and sending it until it is heard.

Pure but for `send`. Reads no environment and prints nothing. Source: crcr-protocol 1.4, 1.10 and 1.11.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from relay.backend.envelope import Envelope
from relay.failures import Failure

SCHEMA_VERSION = "1"
AUDIENCE = "pytorch-cross-repo-ci-relay"
SELF_REPORTS = ("nightly", "periodic")
STATUSES = ("in_progress", "completed")
CONCLUSIONS = (
    *("success", "failure", "neutral", "cancelled", "skipped"),
    *("timed_out", "action_required", "stale"),
)
#: The upstream repository of a self-report, which echoes no payload.
UPSTREAM = "pytorch/pytorch"
#: What the results store keeps of failed tests (crcr-protocol 1.4).
FAILED_TESTS_CAP = 50
FAILED_MESSAGE_CAP = 500
_COUNTS = ("passed", "failed", "skipped", "total")


class BadReport(Failure):
    """The report makes no sense; nothing was sent."""

    code = "bad_report"


@dataclass(frozen=True, slots=True)
class Job:
    """The job that reports: the same in every report of it, for a relay knows it by these."""

    workflow: str
    run_id: str
    name: str
    run_attempt: str = "1"
    url: str = ""
    check_run_id: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One report. `test_results` are counts, `failed_tests` objects of `name`, `classname`, `message`, `duration`."""

    status: str
    conclusion: str | None = None
    started_at: str | None = None
    test_results: Mapping[str, int] | None = None
    failed_tests: Sequence[Mapping[str, Any]] = ()
    artifact_url: str = ""
    triage_verdict: Mapping[str, Any] | None = field(default=None, repr=False)


def timestamp(at: datetime) -> str:
    """A moment as reports write it: UTC with microseconds and `Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def callback_body(
    report: Report,
    job: Job,
    *,
    envelope: Envelope | None,
    delivery_id: str = "",
    event_type: str = "",
    now: datetime,
    strict: bool = False,
) -> Mapping[str, Any]:
    """The body to post: the dispatch's envelope with `workflow` added, or a self-report made from scratch.

    `strict` lets a completed report have no conclusion, as the original reporter does.

    Raises:
        BadReport: status, conclusion or overrides do not fit together.
    """
    _check(report, strict=strict)
    echo = _echo(report, envelope, delivery_id, event_type)
    return {**echo, "workflow": _workflow(report, job, now, self_report=echo["event_type"] in SELF_REPORTS)}


def counts(text: str) -> Mapping[str, int] | None:
    """The counts in a JSON text; None for an empty one.

    Raises:
        BadReport: it is no object of counts.
    """
    if not text.strip():
        return None
    try:
        told = json.loads(text)
    except ValueError as error:
        raise BadReport(f"the test results are not JSON: {error}", _COUNTS_HINT) from error
    if not isinstance(told, dict) or not all(_is_count(told.get(name, 0)) for name in _COUNTS):
        raise BadReport("the test results are no object of counts", _COUNTS_HINT)
    return {name: told[name] for name in _COUNTS if name in told}


_COUNTS_HINT = 'write for example {"passed": 80, "failed": 3, "skipped": 7}'


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check(report: Report, *, strict: bool) -> None:
    if report.status not in STATUSES:
        raise BadReport(f'there is no status "{report.status}"', "it is in_progress or completed")
    if report.conclusion and report.conclusion not in CONCLUSIONS:
        raise BadReport(f'there is no conclusion "{report.conclusion}"', f"one of {', '.join(CONCLUSIONS)}")
    if report.status == "completed" and not report.conclusion and not strict:
        raise BadReport("a completed job needs a conclusion", f"one of {', '.join(CONCLUSIONS)}")


def _echo(report: Report, envelope: Envelope | None, delivery_id: str, event_type: str) -> Mapping[str, Any]:
    if bool(delivery_id) != bool(event_type):
        raise BadReport("a delivery id and an event type belong together", "give both to report by yourself, or none")
    if not delivery_id:
        if envelope is None:
            raise BadReport(
                "this job was not dispatched by a relay, so there is nothing to answer",
                "run it on repository_dispatch, or name a delivery id (the tested commit) and the event type nightly",
            )
        return envelope.echo
    if event_type not in SELF_REPORTS:
        raise BadReport(f'nobody reports "{event_type}" by itself', f"the event type is {' or '.join(SELF_REPORTS)}")
    if report.status != "completed":
        raise BadReport(f"a {event_type} report is sent once, at the end", "its status is completed")
    payload = {"repository": {"full_name": UPSTREAM}, "head_sha": delivery_id}
    return {"event_type": event_type, "delivery_id": delivery_id, "payload": payload}


def _workflow(report: Report, job: Job, now: datetime, *, self_report: bool) -> Mapping[str, Any]:
    completed = report.status == "completed"
    told: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "status": report.status,
        "conclusion": report.conclusion if completed else None,
        "name": job.workflow,
        "url": job.url,
        "run_id": job.run_id,
        "run_attempt": job.run_attempt,
        "job_name": job.name,
        "check_run_id": job.check_run_id or f"{job.run_id}-{job.run_attempt}",
        "started_at": report.started_at or timestamp(now) if self_report or not completed else None,
        "completed_at": timestamp(now) if completed else None,
    }
    if completed:
        told |= _findings(report)
    return told


def _findings(report: Report) -> Mapping[str, Any]:
    """What only an end can tell, absent where there is nothing."""
    failed = [_failed_test(test) for test in report.failed_tests[:FAILED_TESTS_CAP]]
    told = {
        "test_results": report.test_results,
        "failed_tests_detail": failed,
        "artifact_url": report.artifact_url,
        "triage_verdict": report.triage_verdict,
    }
    return {key: value for key, value in told.items() if value}


def _failed_test(test: Mapping[str, Any]) -> Mapping[str, Any]:
    message = test.get("message")
    return {**test, "message": message[:FAILED_MESSAGE_CAP]} if isinstance(message, str) else test
