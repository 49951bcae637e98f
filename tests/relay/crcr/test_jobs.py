"""What a backend's reports do to its jobs."""

from __future__ import annotations

import threading
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from relay.allowlist.types import Backend, Level
from relay.crcr.callback import CallbackRefusedError
from relay.crcr.job_states import Step
from relay.store.crcr_models import BackendJob, DispatchState, JobState
from relay.store.engine import Store
from tests.relay.crcr.callback_story import NOW, SHA, BackendStory, story_settings


@pytest.fixture
def story(store: Store, tmp_path: Path) -> BackendStory:
    """A backend that was dispatched at `NOW`."""
    told = BackendStory(store, story_settings(tmp_path))
    told.dispatched()
    return told


@pytest.fixture
def strict(store: Store, tmp_path: Path) -> BackendStory:
    """The same with a relay that answers as the original does."""
    told = BackendStory(store, story_settings(tmp_path, strict=True))
    told.dispatched()
    return told


def refused(story: BackendStory, status: str = "in_progress", **changes: Any) -> CallbackRefusedError:
    """How a report is refused; the record stays as it was."""
    before = [(job.id, job.state, job.conclusion) for job in story.jobs()]
    with pytest.raises(CallbackRefusedError) as caught:
        story.report(status, **changes)
    assert [(job.id, job.state, job.conclusion) for job in story.jobs()] == before
    return caught.value


def test_a_job_starts_and_ends(story: BackendStory) -> None:
    """Its times are the relay's clock; whose it is, the dispatch tells."""
    story.tick(30)
    assert story.report(started_at="2026-11-02T09:30:20Z").step is Step.START
    story.tick(60)
    assert story.report("completed", completed_at="2026-11-02T09:31:25Z").step is Step.FINISH
    (job,) = story.jobs()
    assert (job.state, job.conclusion, job.assumed) == (JobState.COMPLETED, "success", "")
    assert (job.queue_time, job.execution_time, job.deadline_at) == (30.0, 60.0, None)
    assert (job.in_progress_at, job.completed_at) == (NOW + timedelta(seconds=30), NOW + timedelta(seconds=90))
    assert (job.started_at, job.ended_at) == ("2026-11-02T09:30:20Z", "2026-11-02T09:31:25Z")
    assert (job.pr_number, job.head_sha, job.event_type, job.level) == (7, SHA, "pull_request", "L2")
    assert story.history() == ["callback.start", "callback.finish"]


def test_a_running_job_has_a_deadline(story: BackendStory) -> None:
    """So that somebody notices when it never ends."""
    story.report()
    limit = timedelta(seconds=story.settings.crcr_zombie_timeout_s)
    assert [job.deadline_at for job in story.jobs()] == [NOW + limit]


def test_a_repeated_start_changes_nothing(story: BackendStory) -> None:
    """The clock of the first one counts."""
    story.report()
    story.tick(10)
    taken = story.report(started_at="later")
    assert (taken.step, taken.applied) == (Step.REPEAT, False)
    assert [job.in_progress_at for job in story.jobs()] == [NOW]
    assert story.history() == ["callback.start"]


def test_a_repeated_end_changes_nothing(story: BackendStory) -> None:
    """Not even with a later clock."""
    story.report()
    story.report("completed", test_results={"passed": 1})
    story.tick(10)
    assert story.report("completed", test_results={"passed": 1}, completed_at="later").step is Step.REPEAT
    assert [job.completed_at for job in story.jobs()] == [NOW]


@pytest.mark.parametrize("other", [{"conclusion": "failure"}, {"test_results": {"passed": 2}}])
def test_a_contradiction_is_refused_with_what_is_stored(story: BackendStory, other: dict[str, Any]) -> None:
    """Whoever reads the answer sees what the relay believes."""
    story.report("completed", test_results={"passed": 1})
    problem = refused(story, "completed", **({"test_results": {"passed": 1}} | other))
    assert problem.status == 409
    assert isinstance(problem.detail, dict)
    assert problem.detail["stored"] == {"status": "completed", "conclusion": "success"}


def test_an_end_without_a_start_is_taken(story: BackendStory) -> None:
    """Its start is unknown, and so is how long it took."""
    story.tick(5)
    assert story.report("completed").step is Step.FINISH
    (job,) = story.jobs()
    assert (job.state, job.in_progress_at, job.execution_time, job.queue_time) == (JobState.COMPLETED, None, None, None)


def test_a_start_that_was_overtaken_is_added_once(story: BackendStory) -> None:
    """The job stays ended, with the end's own callback."""
    story.report("completed", conclusion="failure")
    story.tick(1)
    assert story.report(started_at="2026-11-02T09:29:00Z").step is Step.LATE_START
    (job,) = story.jobs()
    assert (job.state, job.conclusion, job.started_at) == (JobState.COMPLETED, "failure", "2026-11-02T09:29:00Z")
    assert job.callback["workflow"]["status"] == "completed"
    assert (job.deadline_at, job.execution_time) == (None, None)
    assert refused(story).status == 400


def test_a_start_after_a_known_start_and_end_is_refused(story: BackendStory) -> None:
    """An ended job does not run again; that is another attempt."""
    story.report()
    story.report("completed")
    problem = refused(story)
    assert problem.status == 400
    assert "invalid state transition" in str(problem.detail)
    assert story.report(run_attempt="2").step is Step.START


def suppose(story: BackendStory) -> None:
    """The sweep gives the job up."""
    with story.store.writing() as session:
        session.execute(
            update(BackendJob).values(
                state=JobState.COMPLETED, conclusion="timed_out", assumed="no report within 6 hours", deadline_at=None
            )
        )


def test_the_truth_replaces_what_was_supposed(story: BackendStory) -> None:
    """And stands beside it in the history; only once."""
    story.report()
    suppose(story)
    story.tick(90)
    assert story.report("completed").step is Step.LATE_FINISH
    (job,) = story.jobs()
    assert (job.conclusion, job.assumed, job.execution_time) == ("success", "", 90.0)
    assert story.history() == ["callback.start", "callback.late_finish"]
    assert story.report("completed").step is Step.REPEAT
    assert refused(story, "completed", conclusion="failure").status == 409


def test_the_original_takes_no_truth_after_a_timeout(strict: BackendStory) -> None:
    """As crcr-protocol 3.2 has it."""
    strict.report()
    suppose(strict)
    assert refused(strict, "completed").status == 400


@pytest.mark.parametrize("status", ["completed", "in_progress"])
def test_the_original_refuses_what_is_out_of_order(strict: BackendStory, status: str) -> None:
    """Every repeat, and an end without a start."""
    assert refused(strict, "completed").status == 400
    strict.report()
    assert refused(strict).status == 400
    strict.report("completed")
    assert refused(strict, status).status == 400


@pytest.mark.parametrize("order", sorted(set(permutations(["in_progress", "completed", "completed"]))))
def test_the_order_of_reports_does_not_matter(story: BackendStory, order: tuple[str, ...]) -> None:
    """However the network shuffles them, with a repeat among them, the record says the same in the end."""
    for status in order:
        story.report(status, started_at="s" if status == "in_progress" else None)
    (job,) = story.jobs()
    assert (job.state, job.conclusion, job.started_at) == (JobState.COMPLETED, "success", "s")
    assert len(story.history()) == 2


@pytest.mark.parametrize("change", [{"job_name": "test"}, {"name": "Other"}, {"run_id": "101"}, {"run_attempt": "2"}])
def test_another_job_is_another_record(story: BackendStory, change: dict[str, Any]) -> None:
    """It starts for itself."""
    story.report()
    story.report("completed")
    assert story.report(**change).step is Step.START
    assert len(story.jobs()) == 2


def test_another_check_is_the_same_job(story: BackendStory) -> None:
    """One job may begin what another one ends."""
    story.report(check_run_id="1")
    assert story.report("completed", check_run_id="2").step is Step.FINISH
    assert [job.reported_check for job in story.jobs()] == ["2"]


@pytest.mark.parametrize("status", ["in_progress", "completed"])
@pytest.mark.parametrize("run_id", [0, "0", "000"])
def test_the_reserved_run_is_refused(story: BackendStory, status: str, run_id: object) -> None:
    """The original keeps it for the dispatch itself."""
    assert refused(story, status, run_id=run_id).status == 400
    assert story.dispatch().answered_at is None


@pytest.mark.parametrize("status", ["queued", "", "IN_PROGRESS", None])
def test_an_unknown_status_is_refused_once_the_dispatch_is_known(story: BackendStory, status: str) -> None:
    """Without a dispatch that is what is said."""
    assert "unknown callback status" in str(refused(story, status).detail)
    assert "no matching dispatch" in str(refused(story, status, delivery_id="d2").detail)


def test_without_a_dispatch_nothing_is_taken(story: BackendStory) -> None:
    """Another backend's dispatch, or another delivery, is none."""
    assert refused(story, delivery_id="d2").status == 400
    story.backend = Backend("a/other", Level.L2)
    assert "no matching dispatch" in str(refused(story).detail)


def test_names_that_differ_by_letter_case_are_one_backend(story: BackendStory) -> None:
    """As GitHub has it."""
    story.backend = Backend("A/L2", Level.L2)
    assert story.report().step is Step.START
    assert story.report().step is Step.REPEAT


@pytest.mark.parametrize("state", [DispatchState.FAILED, DispatchState.WITHDRAWN])
def test_a_dispatch_that_failed_for_us_may_have_arrived(store: Store, tmp_path: Path, state: DispatchState) -> None:
    """Only what was sent in it proves that."""
    story = BackendStory(store, story_settings(tmp_path))
    story.dispatched(state=state, dispatched_at=None)
    assert refused(story, proof=None).status == 400
    assert refused(story, proof={"nonce": "guessed"}).status == 400
    assert story.report().step is Step.START


def test_a_backend_may_answer_before_our_own_note_is_written(store: Store, tmp_path: Path) -> None:
    """Then it has waited since the dispatch was queued."""
    story = BackendStory(store, story_settings(tmp_path))
    story.dispatched(state=DispatchState.QUEUED, dispatched_at=None)
    story.tick(3)
    assert story.report().job.queue_time == 3.0
    assert story.dispatch().state is DispatchState.QUEUED


def test_a_dispatch_starts_no_job_after_its_time(story: BackendStory) -> None:
    """What it began before may end at any time."""
    story.report()
    story.tick(story.settings.crcr_status_ttl_s + 1)
    assert refused(story, job_name="test").status == 400
    assert story.report("completed").step is Step.FINISH


def test_the_original_forgets_what_it_dispatched(strict: BackendStory) -> None:
    """With all that came of it."""
    strict.report()
    strict.tick(strict.settings.crcr_status_ttl_s + 1)
    assert refused(strict, "completed").status == 400


@pytest.mark.parametrize("level", [Level.L3, Level.L4])
def test_who_is_shown_upstream_proves_what_it_was_sent(store: Store, tmp_path: Path, level: Level) -> None:
    """A delivery's id is known to every backend."""
    story = BackendStory(store, story_settings(tmp_path), Backend("a/x", level))
    story.dispatched()
    assert refused(story, proof=None).status == 403
    assert refused(story, proof={}).status == 403
    assert refused(story, proof={"nonce": "random"}).status == 403
    assert refused(story, proof="text").status == 403
    assert story.report().mismatch == ()


def test_a_dispatch_without_a_proof_is_answered_without_one(store: Store, tmp_path: Path) -> None:
    """Such were sent before, or in the strict mode."""
    story = BackendStory(store, story_settings(tmp_path), Backend("a/x", Level.L4))
    story.dispatched(nonce="")
    assert story.report(proof=None).step is Step.START


def test_the_strict_mode_asks_for_no_proof(store: Store, tmp_path: Path) -> None:
    """The original sends none."""
    story = BackendStory(store, story_settings(tmp_path, strict=True), Backend("a/x", Level.L4))
    story.dispatched()
    assert story.report(proof=None).step is Step.START


def test_a_reporter_without_a_proof_is_flagged_only_when_it_has_a_wrong_one(story: BackendStory) -> None:
    """A backend that only reports may use any reporter."""
    assert story.report(proof=None).mismatch == ()
    assert story.report("completed", proof={"nonce": "another's"}).mismatch == ("crcr",)


def test_what_is_echoed_otherwise_is_flagged_and_not_used(story: BackendStory) -> None:
    """The change is the dispatched one."""
    evil = {"pull_request": {"number": 999, "head": {"sha": "e" * 40}}, "repository": {"full_name": "evil/pytorch"}}
    taken = story.report(payload=evil, event_type="push")
    assert taken.mismatch == ("event_type", "upstream_repo", "pr_number", "head_sha")
    (job,) = story.jobs()
    assert (job.pr_number, job.head_sha, job.upstream_repo) == (7, SHA, "pytorch/pytorch")
    assert job.mismatch == list(taken.mismatch)
    assert story.report("completed", payload={"pull_request": {"number": 999}}).job.mismatch == job.mismatch


def test_an_honest_echo_is_not_flagged(story: BackendStory) -> None:
    """In whatever letter case the upstream is written, or without an echo at all."""
    honest = {"pull_request": {"number": 7, "head": {"sha": SHA}}, "repository": {"full_name": "PyTorch/pytorch"}}
    assert story.report(payload=honest).mismatch == ()
    assert story.report("completed", payload={}, event_type="").mismatch == ()


def test_a_later_attempt_waits_since_it_was_asked_for(story: BackendStory) -> None:
    """Not since the dispatch, which may be days ago; who asked for it elsewhere, we do not know."""
    story.report()
    story.report("completed")
    story.tick(3_600)
    assert story.report(run_attempt="2").job.queue_time is None
    with story.store.writing() as session:
        session.execute(update(BackendJob).where(BackendJob.run_attempt == 2).values(rerun_requested_at=story.now))
    story.tick(12.3456)
    assert story.report(run_attempt="3").job.queue_time == 12.346


def test_the_original_counts_every_attempt_from_the_dispatch(strict: BackendStory) -> None:
    """Without bound."""
    strict.tick(3_600)
    assert strict.report(run_attempt="2").job.queue_time == 3_600.0


def test_a_clock_that_went_back_makes_no_negative_time(story: BackendStory) -> None:
    """Replicas have clocks of their own."""
    story.tick(-5)
    assert story.report().job.queue_time == 0.0
    story.tick(-5)
    assert story.report("completed").job.execution_time == 0.0


def test_the_dispatch_notes_its_first_answer(story: BackendStory) -> None:
    """Only the first one; one that had been given up is taken back."""
    story.tick(1)
    story.report()
    first = story.now
    story.tick(1)
    story.report("completed")
    assert story.dispatch().answered_at == first


def test_a_dispatch_that_was_given_up_is_taken_back(store: Store, tmp_path: Path) -> None:
    """It did start, only late."""
    story = BackendStory(store, story_settings(tmp_path))
    story.dispatched(answered_at=NOW, not_started_at=NOW)
    story.tick(60)
    story.report()
    dispatch = story.dispatch()
    assert (dispatch.answered_at, dispatch.not_started_at) == (story.now, None)


def test_of_many_at_once_exactly_one_is_applied(story: BackendStory) -> None:
    """Compare and set, whoever the database lets in first."""
    steps = at_once(story, "in_progress")
    assert sorted(steps) == [Step.REPEAT] * 7 + [Step.START]
    steps = at_once(story, "completed")
    assert sorted(steps) == [Step.FINISH] + [Step.REPEAT] * 7
    assert len(story.jobs()) == 1
    assert story.history() == ["callback.start", "callback.finish"]


def test_of_two_ends_at_once_one_wins(story: BackendStory) -> None:
    """The other one is told so."""
    answers: list[str] = []

    def end(conclusion: str) -> None:
        try:
            answers.append(story.report("completed", conclusion=conclusion).step)
        except CallbackRefusedError as problem:
            answers.append(str(problem.status))

    threads = [threading.Thread(target=end, args=(word,)) for word in ("success", "failure")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["409", Step.FINISH]


def at_once(story: BackendStory, status: str) -> list[Step]:
    """Eight equal reports in eight threads."""
    steps: list[Step] = []
    threads = [threading.Thread(target=lambda: steps.append(story.report(status).step)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return steps
