"""Reports of scheduled runs, which nobody dispatched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relay.crcr.callback import Callback, CallbackRefusedError, parse_callback
from relay.crcr.job_record import Taken
from relay.crcr.job_states import Step
from relay.crcr.nightly import checked_report, commit_of, is_self_report, take_report
from relay.store.crcr_models import JobState
from relay.store.engine import Store
from tests.relay.crcr.callback_story import SHA, UPSTREAM, BackendStory, story_settings


def report(event_type: str = "nightly", sha: str = SHA, payload: Any = ..., **workflow: Any) -> Callback:
    """A report as it comes."""
    told = {"status": "completed", "conclusion": "success", "name": "CI", "run_id": "100", "job_name": "build"}
    told_payload = {"repository": {"full_name": UPSTREAM}, "head_sha": sha} if payload is ... else payload
    body = {"event_type": event_type, "delivery_id": sha, "payload": told_payload, "workflow": told | workflow}
    return parse_callback(body, strict=False)


def refused(callback: Callback) -> CallbackRefusedError:
    """How a report is refused."""
    with pytest.raises(CallbackRefusedError) as caught:
        checked_report(callback, UPSTREAM, strict=False)
    return caught.value


@dataclass
class Reporter(BackendStory):
    """A backend with scheduled runs."""

    def tell(self, callback: Callback) -> Taken:
        """Report now, in a transaction."""
        with self.store.writing() as session:
            return take_report(session, self.settings, self.backend, callback, self.now)


@pytest.fixture
def reporter(store: Store, tmp_path: Path) -> Reporter:
    """Nobody dispatched it."""
    return Reporter(store, story_settings(tmp_path))


@pytest.mark.parametrize(
    ("event_type", "itself"),
    [("nightly", True), ("periodic", True), ("push", False), ("", False), ("Nightly", False), ("weekly", False)],
)
def test_two_words_tell_of_scheduled_runs(event_type: str, itself: bool) -> None:
    """Down to the letter case."""
    assert is_self_report(report(event_type)) is itself


@pytest.mark.parametrize("strict", [False, True])
def test_a_report_comes_at_the_end(strict: bool) -> None:
    """A scheduled run that only began is nobody's matter."""
    with pytest.raises(CallbackRefusedError, match="completed") as caught:
        checked_report(report(status="in_progress"), UPSTREAM, strict=strict)
    assert caught.value.status == 400


def test_a_plain_report_stays_as_it_is() -> None:
    """Without a payload too."""
    for callback in (report(), report(payload=None), report(payload={}), report(sha="AB" * 32)):
        assert checked_report(callback, UPSTREAM, strict=False) is callback


@pytest.mark.parametrize("sha", ["main", "1" * 39, "1" * 41, "g" * 40, "refs/heads/main", " " + "1" * 40])
def test_a_report_is_of_a_commit(sha: str) -> None:
    """A branch is another one tomorrow."""
    assert refused(report(sha=sha)).status == 400
    assert checked_report(report(sha=sha), UPSTREAM, strict=True).delivery_id == sha


@pytest.mark.parametrize(
    "payload",
    [
        {"head_sha": "2" * 40},
        {"head_sha": "main"},
        {"head_sha": 5},
        {"repository": {"full_name": "other/pytorch"}},
    ],
)
def test_a_report_does_not_contradict_itself(payload: dict[str, object]) -> None:
    """Two commits, or another upstream than this relay's."""
    assert refused(report(payload=payload)).status == 400


def test_a_report_is_of_no_pull_request() -> None:
    """Whatever a reader could take for one is taken out; the strict mode keeps it."""
    payload = {"pull_request": {"number": 7}, "number": 7, "ref": "refs/tags/ciflow/trunk/7", "after": SHA, "x": 1}
    callback = report(payload=payload)
    assert checked_report(callback, UPSTREAM, strict=False).body["payload"] == {"x": 1}
    assert checked_report(callback, UPSTREAM, strict=True).body["payload"] == payload


def test_the_tested_commit_is_the_one_that_is_named() -> None:
    """In one way of writing; in strict mode it may be anything that the record can hold."""
    assert commit_of(report(sha="AB" * 20)) == "ab" * 20
    assert commit_of(report(payload=None)) == SHA
    assert commit_of(report(sha="x" * 65)) == ""
    assert commit_of(report(sha="nightly")) == "nightly"


def test_a_report_is_kept_without_times_of_ours(reporter: Reporter) -> None:
    """How long a run waited that nobody asked for is no question."""
    taken = reporter.tell(report(started_at="s", completed_at="e"))
    assert taken.step is Step.FINISH
    (job,) = reporter.jobs()
    assert (job.state, job.conclusion, job.event_type, job.head_sha) == (JobState.COMPLETED, "success", "nightly", SHA)
    assert (job.pr_number, job.deadline_at, job.queue_time, job.execution_time) == (None, None, None, None)
    assert (job.started_at, job.ended_at) == ("s", "e")


def test_the_later_report_wins_and_history_keeps_both(reporter: Reporter) -> None:
    """One job, two accounts of it."""
    reporter.tell(report(conclusion="failure"))
    reporter.tick(60)
    assert reporter.tell(report()).step is Step.FINISH
    assert [(job.conclusion, job.completed_at) for job in reporter.jobs()] == [("success", reporter.now)]
    assert reporter.history() == ["callback.finish", "callback.finish"]


def test_a_repeated_report_changes_nothing(reporter: Reporter) -> None:
    """A client that tries again says the same."""
    reporter.tell(report())
    taken = reporter.tell(report(completed_at="later"))
    assert (taken.step, taken.applied) == (Step.REPEAT, False)
    assert len(reporter.history()) == 1


def test_the_original_takes_every_repeat(store: Store, tmp_path: Path) -> None:
    """And forwards it again."""
    reporter = Reporter(store, story_settings(tmp_path, strict=True))
    reporter.tell(report())
    assert reporter.tell(report()).applied


def test_a_later_attempt_is_another_report(reporter: Reporter) -> None:
    """Both stay."""
    reporter.tell(report(conclusion="failure"))
    reporter.tell(report(run_attempt="2"))
    assert [job.conclusion for job in reporter.jobs()] == ["failure", "success"]
