"""What readers ask about the trunk: the commits that were pushed, and our own runs on each. Reads only.

A commit's place is that of the first run its push opened; reruns and audits of the commit are results beside it. Three
queries, whatever a page holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session, aliased

from relay.runs.verdicts import BREAKING
from relay.store.models import PlannedTest, Run, Trigger
from relay.trunk_views import Outcome, TrunkJob, TrunkResult
from relay.views import Conclusion, RunState

#: What our own runs of a commit are called beside the jobs of backends.
SELECTED, AUDIT = "selected tests", "audit"

_Run = Row[int, str, str, Trigger, RunState, Conclusion | None, datetime]

_CONCLUDED = {
    Conclusion.SUCCESS: Outcome.PASSED,
    Conclusion.FAILURE: Outcome.FAILED,
    Conclusion.NEUTRAL: Outcome.NO_ANSWER,
}
_ENDED = {RunState.CANCELLED: Outcome.CANCELLED, RunState.FAILED: Outcome.UNFINISHED}


@dataclass(frozen=True, slots=True)
class PushedCommit:
    """A commit of the branch; `key` is the id of the run that its first push opened."""

    key: int
    sha: str
    title: str
    at: datetime


def pushed_commits(
    session: Session, repo: str, *, limit: int, before: int | None = None
) -> tuple[tuple[PushedCommit, ...], int | None]:
    """Commits pushed to the branch of `repo`, newest push first, and the key before which the older ones are, None when
    there are none."""
    earlier = aliased(Run)
    seen = select(earlier.id).where(
        *(earlier.repo == Run.repo, earlier.pr_number.is_(None), earlier.trigger == Trigger.WEBHOOK),
        *(earlier.head_sha == Run.head_sha, earlier.id < Run.id),
    )
    query = (
        select(Run.id, Run.head_sha, Run.title, Run.created_at)
        .where(func.lower(Run.repo) == repo.lower(), Run.pr_number.is_(None), Run.trigger == Trigger.WEBHOOK)
        .where(~seen.exists())
        .order_by(Run.id.desc())
        .limit(limit + 1)
    )
    if before is not None:
        query = query.where(Run.id < before)
    found = [PushedCommit(*row) for row in session.execute(query)]
    shown = tuple(found[:limit])
    return shown, shown[-1].key if len(found) > limit else None


def results_on(
    session: Session, repo: str, shas: Sequence[str], public_url: str
) -> Mapping[str, tuple[TrunkResult, ...]]:
    """Our own newest answers by commit, one for each device and kind of run. A rerun of the failed tests counts: it is
    the newest that is known. Runs that only ask who missed a test do not."""
    columns = (Run.id, Run.head_sha, Run.device, Run.trigger, Run.state, Run.conclusion, Run.created_at)
    of_commits = (func.lower(Run.repo) == repo.lower(), Run.pr_number.is_(None), Run.head_sha.in_(shas))
    query = select(*columns).where(*of_commits, Run.trigger != Trigger.CONFIRM).order_by(Run.id.desc())
    runs: defaultdict[tuple[str, TrunkJob], list[_Run]] = defaultdict(list)
    for run in session.execute(query):
        runs[run.head_sha, _job(run)].append(run)
    broken = _broken(session, [found[0].id for found in runs.values()])
    results: defaultdict[str, list[TrunkResult]] = defaultdict(list)
    for (sha, job), found in runs.items():
        results[sha].append(_result(job, found, broken, public_url))
    return {sha: tuple(found) for sha, found in results.items()}


def _job(run: _Run) -> TrunkJob:
    return TrunkJob(where=run.device, name=AUDIT if run.trigger is Trigger.AUDIT else SELECTED, ours=True)


def _broken(session: Session, runs: Sequence[int]) -> Mapping[int, int]:
    query = select(PlannedTest.run_id, func.count()).where(
        PlannedTest.run_id.in_(runs), PlannedTest.verdict.in_(sorted(BREAKING))
    )
    return dict(session.execute(query.group_by(PlannedTest.run_id)).all())


def _result(job: TrunkJob, runs: Sequence[_Run], broken: Mapping[int, int], public_url: str) -> TrunkResult:
    newest = runs[0]
    outcome = _CONCLUDED[newest.conclusion] if newest.conclusion else _ENDED.get(newest.state, Outcome.RUNNING)
    return TrunkResult(
        job=job,
        outcome=outcome,
        at=newest.created_at,
        attempts=len(runs),
        broken=broken.get(newest.id, 0),
        run_id=newest.id,
        url=f"{public_url}/runs/{newest.id}",
    )
