"""How the jobs of backends went on some commits, as the trunk's grid shows it. One query; reads only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from relay.hud.extract import COMPLETED
from relay.store.crcr_models import CrcrResult
from relay.trunk_views import Outcome, TrunkJob, TrunkResult

_Job = Row[str, str, str, str, str, str, datetime, int, str]

_CONCLUDED = {
    "success": Outcome.PASSED,
    "failure": Outcome.FAILED,
    "timed_out": Outcome.UNFINISHED,
    "cancelled": Outcome.CANCELLED,
    "skipped": Outcome.SKIPPED,
}
#: As the original does it, a result that belongs to no pull request has this number.
_NO_PULL = 0


def jobs_on(session: Session, shas: Sequence[str]) -> Mapping[str, tuple[TrunkResult, ...]]:
    """The newest answer of every backend's job on each of these commits of the branch, by commit."""
    query = select(
        *(CrcrResult.pytorch_head_sha, CrcrResult.downstream_repo, CrcrResult.workflow_name, CrcrResult.job_name),
        *(CrcrResult.status, CrcrResult.conclusion, CrcrResult.listed_at, CrcrResult.failed_tests),
        CrcrResult.workflow_run_url,
    ).where(CrcrResult.pytorch_head_sha.in_(shas), CrcrResult.pr_number == _NO_PULL)
    found: defaultdict[tuple[str, TrunkJob], list[_Job]] = defaultdict(list)
    for row in session.execute(query.order_by(CrcrResult.listed_at.desc(), CrcrResult.id.desc())):
        name = " / ".join(part for part in (row.workflow_name, row.job_name) if part)
        found[row.pytorch_head_sha, TrunkJob(where=row.downstream_repo, name=name, ours=False)].append(row)
    results: defaultdict[str, list[TrunkResult]] = defaultdict(list)
    for (sha, job), rows in found.items():
        results[sha].append(_result(job, rows))
    return {sha: tuple(jobs) for sha, jobs in results.items()}


def _result(job: TrunkJob, rows: Sequence[_Job]) -> TrunkResult:
    newest = rows[0]
    ended = newest.status == COMPLETED
    return TrunkResult(
        job=job,
        outcome=_CONCLUDED.get(newest.conclusion, Outcome.NO_ANSWER) if ended else Outcome.RUNNING,
        at=newest.listed_at,
        attempts=len(rows),
        broken=newest.failed_tests,
        run_id=None,
        url=newest.workflow_run_url,
    )
