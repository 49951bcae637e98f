"""How tests ended in earlier runs: what the change's last version broke, and what changes of a file broke.

Only reads. A test counts as broken when it failed on head and passed on base (`verdicts.is_newly_broken`): a test that
flakes, or that was broken already, is no evidence against a change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session, selectinload

from relay.contract import BrokenWith, FailedLast, PastAsked
from relay.runs.audits import is_broken
from relay.runs.states import FINAL_RUN_STATES
from relay.runs.verdicts import BREAKING
from relay.store.models import PlannedTest, Run, Selection, Trigger
from relay.views import RunState

#: How far back, and how many runs of a device, a file's history goes.
DAYS, RUNS = 180, 500
#: A run that broke more tests than this has broken everything, which says nothing about any of its files.
MOST_BROKEN = 1_000
#: Tests in one answer, those with the strongest evidence.
MAX_ANSWER = 5_000
_ROWS = 20_000


def failed_last(session: Session, asked: PastAsked) -> tuple[FailedLast, ...]:
    """The base tests that the newest finished run of another version of the same pull request newly broke."""
    if asked.pr_number is None or not asked.repo:
        return ()
    same = (func.lower(Run.repo) == asked.repo.lower(), Run.pr_number == asked.pr_number, Run.device == asked.device)
    earlier = select(Run).where(*same, Run.state == RunState.FINISHED, Run.head_sha != asked.head_sha)
    run = session.scalar(earlier.order_by(Run.id.desc()).limit(1))
    if run is None:
        return ()
    broken = _broken_in(session, [run.id]).get(run.id, ())
    evidence = f"broken by {run.head_sha[:10]} of this pull request, in run {run.id}"
    return tuple(FailedLast(test=test, evidence=evidence) for test in sorted(broken)[:MAX_ANSWER])


def failed_with(session: Session, device: str, paths: Collection[str], now: datetime) -> tuple[BrokenWith, ...]:
    """For each of `paths` the base tests that changes of it broke lately, with the sum over those changes of 1/(files
    changed). The versions of a pull request are one change. Audits do not count: they are many changes at once."""
    wanted = frozenset(paths)
    runs = _recent_with_broken(session, device, now) if wanted else {}
    broken = _broken_in(session, sorted(runs))
    shares: dict[tuple[str, str], dict[str, float]] = {}
    # The documents of one run after the other, because those of all would fill the memory.
    for run_id in sorted(broken):
        changed = _changed_paths(session, run_id)
        for path in sorted(wanted & changed):
            for test in broken[run_id]:
                by_change = shares.setdefault((path, test), {})
                by_change[runs[run_id]] = max(by_change.get(runs[run_id], 0.0), 1 / len(changed))
    strengths = {edge: sum(by_change.values()) for edge, by_change in shares.items()}
    strongest = sorted(strengths, key=lambda edge: (-strengths[edge], edge))[:MAX_ANSWER]
    return tuple(BrokenWith(path=path, test=test, strength=strengths[path, test]) for path, test in sorted(strongest))


def _recent_with_broken(session: Session, device: str, now: datetime) -> dict[int, str]:
    """The newest runs that ended, by id, each with the name of its change; without those that broke nothing, or all."""
    since = (Run.device == device, Run.state.in_(FINAL_RUN_STATES), Run.created_at >= now - timedelta(days=DAYS))
    query = select(Run.id, Run.repo, Run.pr_number, Run.head_sha).where(*since, Run.trigger != Trigger.AUDIT)
    recent = {
        run_id: f"{repo}#{pr_number}" if pr_number is not None else f"{repo}@{head}"
        for run_id, repo, pr_number, head in session.execute(query.order_by(Run.id.desc()).limit(RUNS))
    }
    counted = (
        select(PlannedTest.run_id)
        .where(PlannedTest.run_id.in_(recent), PlannedTest.verdict.in_(sorted(BREAKING)))
        .group_by(PlannedTest.run_id)
        .having(func.count() <= MOST_BROKEN)
    )
    return {run_id: recent[run_id] for run_id in session.scalars(counted)}


def _broken_in(session: Session, runs: Sequence[int]) -> Mapping[int, set[str]]:
    """The base tests that were newly broken in some runs, by run."""
    query = select(PlannedTest).where(PlannedTest.run_id.in_(runs), PlannedTest.verdict.in_(sorted(BREAKING)))
    rows = session.scalars(
        query.order_by(PlannedTest.run_id.desc(), PlannedTest.id)
        .limit(_ROWS)
        .options(selectinload(PlannedTest.attempts))
    )
    broken: dict[int, set[str]] = {}
    for row in rows:
        if is_broken(row):
            broken.setdefault(row.run_id, set()).add(row.base)
    return broken


def _changed_paths(session: Session, run_id: int) -> frozenset[str]:
    changed = session.scalar(select(Selection.changed_files).where(Selection.run_id == run_id)) or []
    return frozenset(file["path"] for file in changed)
