"""What readers ask of the record: runs, tests, decisions and events as the frozen views of `relay.views`.

Reads only, page by page, with a fixed number of queries whatever the page holds. It decides nothing: verdicts,
conclusions and state changes are made elsewhere in `relay.runs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from relay.contract import ChangedFile, FunnelStep, NotTested, TestedOn
from relay.errors import NotFoundError
from relay.runs.balance import balance_of
from relay.runs.confinement import weak_sandboxes
from relay.runs.holdout import missed_tests
from relay.runs.states import FINAL_RUN_STATES, is_row_id
from relay.store.models import PlannedTest, Run, RunEvent, Selection, Shard
from relay.views import Conclusion, PlanView, RunDetail, RunPage, RunState, RunSummary, ShardView, Verdict
from relay.views import RunEvent as RunEventView

#: Worst first: the order in which results are listed and counted.
BY_WEIGHT = (
    *(Verdict.REGRESSION, Verdict.CRASH, Verdict.TIMEOUT, Verdict.MISSING),
    *(Verdict.FLAKY, Verdict.KNOWN_FAILURE, Verdict.XPASS, Verdict.FIXED),
    *(Verdict.UNSUPPORTED, Verdict.INFRA, Verdict.OK),
)
#: What speaks against the change.
FAILURES = frozenset(BY_WEIGHT[:4])

_HEADLINES = {
    RunState.RECEIVED: "Waiting for a worker to choose tests",
    RunState.SELECTING: "Choosing the tests that this change can affect",
    RunState.FINISHED: "Finished",
    RunState.CANCELLED: "Cancelled; nobody waits for this result",
    RunState.FAILED: "The relay could not finish this run; the change is not to blame",
}

_Counts = Mapping[Verdict | None, int]


def list_runs(
    session: Session,
    public_url: str,
    *,
    state: RunState | None = None,
    conclusion: Conclusion | None = None,
    repo: str = "",
    branch: str = "",
    pr: int | None = None,
    device: str = "",
    limit: int,
    before: int | None = None,
) -> RunPage:
    """Runs, newest first, `before` that run id. `branch` is the one a pull request goes to, or that was pushed."""
    query = select(Run).order_by(Run.id.desc()).limit(limit + 1)
    if state is not None:
        query = query.where(Run.state == state)
    if conclusion is not None:
        query = query.where(Run.conclusion == conclusion)
    if repo:
        query = query.where(func.lower(Run.repo) == repo.lower())
    if branch:
        query = query.where(Run.base_ref.in_([branch, f"refs/heads/{branch}"]))
    if pr is not None:
        query = query.where(Run.pr_number == pr)
    if device:
        query = query.where(Run.device == device)
    if before is not None:
        query = query.where(Run.id < before)
    rows = session.scalars(query).all()
    shown = rows[:limit]
    return RunPage(
        runs=summaries(session, shown, public_url),
        next_before=shown[-1].id if len(rows) > limit else None,
    )


def summaries(session: Session, runs: Sequence[Run], public_url: str) -> tuple[RunSummary, ...]:
    """These runs as lines of a list, in their order, with one query for all of them."""
    counts = _verdict_counts(session, [run.id for run in runs])
    return tuple(_summary(run, counts.get(run.id, {}), public_url) for run in runs)


def run_summary(session: Session, run_id: int, public_url: str) -> RunSummary:
    """One run as a line of the list.

    Raises:
        NotFoundError: there is no such run.
    """
    run = _run(session, run_id)
    return _summary(run, _verdict_counts(session, [run_id]).get(run_id, {}), public_url)


def run_detail(session: Session, run_id: int, public_url: str) -> RunDetail:
    """A run with its funnel, changed files and shards.

    Raises:
        NotFoundError: there is no such run.
    """
    run = _run(session, run_id)
    counts = _verdict_counts(session, [run_id]).get(run_id, {})
    found = session.execute(
        select(
            *(Selection.funnel, Selection.changed_files, Selection.notes),
            *(Selection.kept, Selection.dropped, Selection.filtered),
            *(Selection.plan_key, Selection.expected_seconds, Selection.seconds_saved, Selection.expected_misses),
        ).where(Selection.run_id == run_id)
    ).one_or_none()
    shards = _shards(session, run_id)
    tested_on = TestedOn.model_validate(run.tested_on) if run.tested_on else None
    return RunDetail(
        run=_summary(run, counts, public_url),
        selection_state=run.selection_state,
        funnel=tuple(FunnelStep.model_validate(step) for step in found.funnel) if found else (),
        changed_files=tuple(ChangedFile.model_validate(file) for file in found.changed_files) if found else (),
        notes=tuple(found.notes) if found else (),
        not_tested=NotTested.model_validate(run.not_tested) if run.not_tested else None,
        tested_on=tested_on,
        shards=shards,
        balance=balance_of(shards),
        kept=found.kept if found else 0,
        dropped=found.dropped if found else 0,
        filtered=len(found.filtered) if found else 0,
        plan=PlanView(
            key=found.plan_key,
            expected_seconds=found.expected_seconds,
            seconds_saved=found.seconds_saved,
            expected_misses=found.expected_misses,
        )
        if found and found.plan_key
        else None,
        missed=missed_tests(session, run_id),
        weak_sandboxes=weak_sandboxes(tested_on, shards),
    )


def events_after(session: Session, run_id: int, after: int, *, limit: int) -> tuple[bool, tuple[RunEventView, ...]]:
    """Whether the run is over, and its next events after the event id `after`.

    In one statement: a run's last event is committed together with its final state, and PostgreSQL shows a second
    statement what was committed after the first. Who got that event from a run that was not over would wait for ever.
    """
    theirs = and_(RunEvent.run_id == Run.id, RunEvent.id > after)
    query = select(Run.state, RunEvent).outerjoin(RunEvent, theirs).where(Run.id == run_id)
    rows = session.execute(query.order_by(RunEvent.id).limit(limit)).all()
    return any(state in FINAL_RUN_STATES for state, _ in rows), tuple(
        RunEventView(id=row.id, run_id=row.run_id, at=row.at, kind=row.kind, text=row.text)
        for _, row in rows
        if row is not None
    )


def last_event_id(session: Session, run_id: int) -> int:
    """The id of the run's newest event, 0 when there is none or no such run."""
    if not is_row_id(run_id):
        return 0
    return session.scalar(select(func.max(RunEvent.id)).where(RunEvent.run_id == run_id)) or 0


def ensure_run(session: Session, run_id: int) -> None:
    """Raises `NotFoundError` when there is no such run."""
    _run(session, run_id)


def _run(session: Session, run_id: int) -> Run:
    # Ids beyond the column's range are refused by PostgreSQL's driver, and cannot exist anyway.
    run = session.get(Run, run_id) if 0 < run_id < 2**31 else None
    if run is None:
        raise NotFoundError(
            f"There is no run {run_id}.", "`relay run list` or GET /api/v1/runs shows the runs there are."
        )
    return run


def _verdict_counts(session: Session, run_ids: Sequence[int]) -> dict[int, dict[Verdict | None, int]]:
    counts: dict[int, dict[Verdict | None, int]] = {}
    query = (
        select(PlannedTest.run_id, PlannedTest.verdict, func.count())
        .where(PlannedTest.run_id.in_(run_ids))
        .group_by(PlannedTest.run_id, PlannedTest.verdict)
    )
    for run_id, verdict, count in session.execute(query):
        counts.setdefault(run_id, {})[verdict] = count
    return counts


def _summary(run: Run, counts: _Counts, public_url: str) -> RunSummary:
    planned = sum(counts.values())
    verdicts = {verdict: counts[verdict] for verdict in BY_WEIGHT if verdict in counts}
    reported = sum(verdicts.values())
    return RunSummary(
        id=run.id,
        repo=run.repo,
        pr_number=run.pr_number,
        title=run.title,
        base_sha=run.tested_base_sha or run.base_sha,
        head_sha=run.head_sha,
        device=run.device,
        trigger=run.trigger,
        attempt=run.attempt,
        rerun_of=run.rerun_of,
        state=run.state,
        conclusion=run.conclusion,
        headline=run.headline or _headline_so_far(run.state, planned, reported, verdicts),
        planned=planned,
        reported=reported,
        verdicts=verdicts,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        url=f"{public_url}/runs/{run.id}",
        full=run.full,
    )


def _headline_so_far(state: RunState, planned: int, reported: int, verdicts: Mapping[Verdict, int]) -> str:
    """What can be said about a run that has no last word yet."""
    if state is RunState.PLANNED:
        return f"{planned} {_tests(planned)} planned, waiting for a worker"
    if state is RunState.RUNNING:
        failing = sum(count for verdict, count in verdicts.items() if verdict in FAILURES)
        so_far = f", {failing} failing" if failing else ""
        return f"{reported} of {planned} {_tests(planned)} reported{so_far}"
    return _HEADLINES[state]


def _tests(count: int) -> str:
    return "test" if count == 1 else "tests"


def _shards(session: Session, run_id: int) -> tuple[ShardView, ...]:
    tests, reported = func.count(PlannedTest.id), func.count(PlannedTest.verdict)
    rows = session.execute(
        select(Shard, tests, reported)
        .outerjoin(PlannedTest, PlannedTest.shard_id == Shard.id)
        .where(Shard.run_id == run_id)
        .group_by(Shard.id)
        .order_by(Shard.ordinal)
    )
    return tuple(
        ShardView(
            id=shard.id,
            kind=shard.kind,
            state=shard.state,
            attempt=shard.attempt,
            worker=shard.lease_worker,
            progress=shard.progress,
            tests=planned,
            reported=done,
            error=shard.error,
            sandbox=shard.sandbox,
            sandbox_of=shard.sandbox_of,
            expected_s=shard.expected_s,
            took_s=shard.took_s,
        )
        for shard, planned, done in rows
    )
