"""The sweep: which jobs and dispatches are due, what is counted, and that one job's trouble is its own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import select, text

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.verification import PAUSE
from relay.crcr.zombies import sweep
from relay.github.types import GitHubError, SeenWorkflowRun
from relay.parts import AllowlistUnavailableError
from relay.store.crcr_models import BackendJob, Dispatch, DispatchState, JobState, OutboxKind
from relay.store.engine import Store
from tests.relay.crcr.stage import Stage, staged

LIMIT_S = 21_600.0
NOTHING = {"cleaned": 0, "errors": 0, "not_started": 0, "verified": 0}


@pytest.fixture
def stage(context: RelayContext, store: Store) -> Iterator[Stage]:
    """A record with a GitHub to look at."""
    with staged(replace(context, store=store)) as made:
        yield made


def test_a_job_is_due_when_its_time_is_over_and_not_before(stage: Stage) -> None:
    """To the second."""
    stage.add()
    stage.clock.tick(LIMIT_S - 1)
    assert sweep(stage.context) == NOTHING
    assert stage.allowlist.reads == 0
    stage.clock.tick(1)
    assert sweep(stage.context) == NOTHING | {"cleaned": 1}
    assert sweep(stage.context) == NOTHING


def test_trouble_with_one_job_is_its_own(stage: Stage) -> None:
    """One that GitHub cannot be asked about, and one that is still at work, keep nobody else waiting for long."""
    asked = [stage.add(run_id=str(number)) for number in (101, 102, 103)]
    stage.github.refusals["workflow_run", "b/l2"] = GitHubError("no answer")
    stage.github.runs["a/l4", 102] = SeenWorkflowRun(102, "in_progress", None, 1, "")
    unseen = stage.add(repo="b/l2", level=Level.L2)
    stage.clock.tick(LIMIT_S)
    swept = [sweep(stage.context) for _ in range(2)]
    assert (sum(one["cleaned"] for one in swept), swept[0]["errors"]) == (2, 1)
    states = [stage.job(job.id).state.value for job in (*asked, unseen)]
    assert states == ["completed", "in_progress", "completed", "in_progress"]


def test_the_level_is_that_of_now(stage: Stage) -> None:
    """A backend that was lowered has no checks any more; one that left keeps that of its last report."""
    stage.add(repo="a/l2", level=Level.L4)
    stage.add(repo="b/gone", level=Level.L4)
    stage.clock.tick(LIMIT_S)
    sweep(stage.context)
    assert [row.body["check"]["name"] for row in stage.queued(OutboxKind.CHECK_RUN)] == ["crcr/b/gone/CI/build"]
    assert stage.allowlist.reads == 1


def one_after_the_other(stage: Stage) -> None:
    """Jobs are asked about in their order."""
    stage.set(crcr_cleanup_workers=1)


def asked(stage: Stage) -> int:
    """How many runs GitHub was asked about since this was asked last."""
    calls = len(stage.github.calls)
    stage.github.calls.clear()
    return calls


@pytest.mark.parametrize("status", [None, 503, 429])
def test_a_github_that_does_not_answer_ends_the_pass(stage: Stage, status: int | None) -> None:
    """Nobody waits for it once for each of many jobs; the next pass goes on with those that were left."""
    one_after_the_other(stage)
    jobs = [stage.add(run_id=str(number)) for number in range(100, 120)]
    stage.clock.tick(LIMIT_S)
    stage.github.fail("workflow_run", GitHubError("away", status=status))
    assert (sweep(stage.context), asked(stage)) == (NOTHING | {"errors": 1}, 1)
    assert sweep(stage.context) == NOTHING | {"cleaned": 20}
    assert {stage.job(job.id).state for job in jobs} == {JobState.COMPLETED}


def test_a_job_that_github_never_tells_of_keeps_no_other(stage: Stage) -> None:
    """Each pass ends there, and the next one begins elsewhere."""
    one_after_the_other(stage)
    unseen = [stage.add(repo="b/l2", level=Level.L2, run_id=str(number)) for number in range(1, 4)]
    others = [stage.add(run_id=str(number)) for number in range(100, 103)]
    stage.clock.tick(LIMIT_S + 60)
    stage.github.refusals["workflow_run", "b/l2"] = GitHubError("bad gateway", status=502)
    for _ in range(4):
        sweep(stage.context)
        stage.clock.tick(60)
    assert {stage.job(job.id).state for job in others} == {JobState.COMPLETED}
    assert {stage.job(job.id).state for job in unseen} == {JobState.IN_PROGRESS}


def test_reports_are_not_looked_up_while_github_does_not_answer(stage: Stage) -> None:
    """The first that gets no answer ends the pass, be it an overdue job's or a report's."""
    one_after_the_other(stage)
    over = {"state": JobState.COMPLETED, "conclusion": "success", "completed_at": stage.clock()}
    for number in range(1, 6):
        stage.add(run_id=str(number), deadline_at=stage.clock(), **over)
        stage.github.runs["a/l4", number] = SeenWorkflowRun(number, "completed", "success", 1, "")
    stage.github.fail("workflow_run", GitHubError("away"))
    assert (sweep(stage.context), asked(stage)) == (NOTHING, 1)
    assert sweep(stage.context) == NOTHING | {"verified": 4}
    stage.add(run_id="100", deadline_at=stage.clock())
    stage.clock.tick(PAUSE.total_seconds())
    asked(stage)
    stage.github.fail("workflow_run", GitHubError("away"))
    assert (sweep(stage.context), asked(stage)) == (NOTHING | {"errors": 1}, 1)


@pytest.mark.parametrize("strict", [False, True])
def test_a_pass_that_is_to_stop_begins_no_job_more(stage: Stage, strict: bool) -> None:
    """At the end of its process."""
    stage.set(crcr_strict_compat=strict)
    one_after_the_other(stage)
    for number in range(100, 105):
        stage.add(run_id=str(number))
    stage.clock.tick(LIMIT_S)
    left = iter((False, False))
    assert sweep(stage.context, lambda: next(left, True))["cleaned"] == 2
    assert sweep(stage.context)["cleaned"] == 3


@pytest.mark.parametrize("strict", [False, True])
def test_without_an_allowlist_only_the_original_gives_up(stage: Stage, strict: bool) -> None:
    """Ours settles by the level of the last report."""
    stage.set(crcr_strict_compat=strict)
    stage.allowlist.text = None
    job = stage.add()
    stage.clock.tick(LIMIT_S)
    if strict:
        with pytest.raises(AllowlistUnavailableError):
            sweep(stage.context)
    else:
        sweep(stage.context)
        assert len(stage.queued(OutboxKind.CHECK_RUN)) == 1
    assert (stage.job(job.id).state is JobState.COMPLETED) is not strict


def test_two_sweeps_at_once_settle_a_job_once(stage: Stage) -> None:
    """Replicas need no agreement."""
    jobs = [stage.add(run_id=str(number)) for number in range(100, 106)]
    stage.clock.tick(LIMIT_S)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: sweep(stage.context), range(2)))
    assert [stage.history(job.id) for job in jobs] == [["supposed"]] * 6
    assert len(stage.queued(OutboxKind.CHECK_RUN)) == 6


def unstarted(stage: Stage) -> list[str]:
    """The backends that were given up."""
    with stage.context.store.reading() as session:
        given_up = select(Dispatch.repo).where(Dispatch.not_started_at.is_not(None), Dispatch.answered_at.is_not(None))
        return list(session.scalars(given_up.order_by(Dispatch.repo)))


def test_a_dispatch_that_nobody_answered_is_noted_once(stage: Stage) -> None:
    """Not one of a backend that never answers, nor one that was answered, or did not arrive."""
    stage.dispatch("a/l2")
    stage.dispatch("a/l1", level="L1")
    stage.dispatch("a/l3", answered_at=stage.clock())
    stage.dispatch("a/l4", state=DispatchState.FAILED)
    stage.dispatch("b/l2", state=DispatchState.QUEUED, dispatched_at=None)
    assert sweep(stage.context)["not_started"] == 0
    stage.clock.tick(LIMIT_S)
    assert [sweep(stage.context)["not_started"] for _ in range(2)] == [1, 0]
    assert unstarted(stage) == ["a/l2"]


def test_a_report_is_looked_up_by_the_sweep(stage: Stage) -> None:
    """When it is due, as `verified`."""
    job = stage.add(
        state=JobState.COMPLETED, conclusion="success", deadline_at=stage.clock(), completed_at=stage.clock()
    )
    stage.github.runs["a/l4", 100] = SeenWorkflowRun(100, "completed", "success", 1, "")
    assert sweep(stage.context) == NOTHING | {"verified": 1}
    assert stage.job(job.id).verified is True


_BROKEN = {
    "sqlite": "CREATE TRIGGER broken BEFORE UPDATE ON backend_jobs WHEN OLD.run_id = '102' "
    "BEGIN SELECT RAISE(ABORT, 'broken'); END",
    "postgresql": "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "IF OLD.run_id = '102' THEN RAISE EXCEPTION 'broken'; END IF; RETURN NEW; END $$; "
    "CREATE TRIGGER broken BEFORE UPDATE ON backend_jobs FOR EACH ROW EXECUTE FUNCTION broken()",
}


def test_a_database_that_fails_for_one_job_is_counted(stage: Stage) -> None:
    """The next sweep finds it again."""
    stage.add(run_id="101")
    broken = stage.add(run_id="102")
    with stage.context.store.writing() as session:
        session.execute(text(_BROKEN[stage.context.store.engine.dialect.name]))
    stage.clock.tick(LIMIT_S)
    assert sweep(stage.context) == NOTHING | {"cleaned": 1, "errors": 1}
    assert stage.job(broken.id).state is JobState.IN_PROGRESS


@pytest.mark.parametrize(
    ("name", "lost"), [("build:cuda", True), ("a:b:c", True), ("3", False), ("1:2:3", False), ("shard (1, 2)", False)]
)
@pytest.mark.parametrize("strict", [False, True])
def test_names_with_separators_lose_no_job_of_ours(stage: Stage, name: str, lost: bool, strict: bool) -> None:
    """The original cannot read its own note of some, and drops them without a word."""
    stage.set(crcr_strict_compat=strict)
    job = stage.add(job_name=name)
    stage.clock.tick(LIMIT_S)
    gone = lost and strict
    assert sweep(stage.context)["cleaned"] == (0 if gone else 1)
    assert stage.job(job.id).state is (JobState.IN_PROGRESS if gone else JobState.COMPLETED)
    assert sweep(stage.context)["cleaned"] == 0


def test_the_strict_mode_settles_nothing_that_its_hud_did_not_take(stage: Stage) -> None:
    """Each sweep tries again, and creates another check run; nothing listens there, so none is taken."""
    stage.set(crcr_strict_compat=True, hud_url="http://127.0.0.1:9/api", hud_max_retries=0)
    job = stage.add()
    stage.clock.tick(LIMIT_S)
    for _ in range(2):
        assert sweep(stage.context) == {"cleaned": 0, "errors": 1}
        stage.clock.tick(600)
    assert stage.job(job.id).state is JobState.IN_PROGRESS
    assert len(stage.queued(OutboxKind.CHECK_RUN)) == 2


def test_many_jobs_in_progress_do_not_stop_the_sweep(stage: Stage) -> None:
    """They are only warned of."""
    stage.set(crcr_in_progress_warn=1)
    for number in (101, 102):
        stage.add(run_id=str(number))
    stage.clock.tick(LIMIT_S)
    assert sweep(stage.context)["cleaned"] == 2
    with stage.context.store.reading() as session:
        assert session.query(BackendJob).filter_by(state=JobState.IN_PROGRESS).count() == 0
