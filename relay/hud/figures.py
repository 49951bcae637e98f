"""The figures of backends that decide about their level: pass, timeout and overrun rate, waits, and how long a run
takes from end to end (5.2, 5.8).

Reads only. A page counts every finished job as all pages do; for a level the last attempt of a job counts. Quantiles
are exact: the value at its place in the sorted list, none in between.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select, tuple_
from sqlalchemy.orm import Session

from relay.allowlist.types import repo_key
from relay.hud.counting import TIMED_OUT, completed_since, range_start, share, tally
from relay.store.crcr_models import CrcrResult
from relay.store.sql import WholeSeconds

#: A job that runs longer overruns.
OVERRUN_AFTER = timedelta(hours=3)

#: What makes jobs one run. The delivery is a part of it, for a reporter need not name its run.
_RUN = (CrcrResult.repo_key, CrcrResult.delivery_id, CrcrResult.run_id)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one backend over a range of days, for pull requests. Durations are seconds; None where there is no value."""

    repo: str
    successes: int
    failures: int
    timed_out: int
    total_jobs: int
    total_prs: int
    avg_queue_time_s: float | None
    avg_exec_time_s: float | None
    max_exec_time_s: float | None
    overrun_rate: float
    median_e2e_time_s: float | None
    p95_e2e_time_s: float | None

    @property
    def pass_rate(self) -> float:
        """Successes of all finished jobs."""
        return share(self.successes, self.total_jobs)

    @property
    def timeout_rate(self) -> float:
        """Timeouts of all finished jobs."""
        return share(self.timed_out, self.total_jobs)


def level_figures(session: Session, repo_keys: Collection[str], *, days: int, now: datetime) -> dict[str, Figures]:
    """The figures of those of these backends that finished a job in the range, by repository key; last attempts
    only."""
    wanted = and_(_finished(days, now), CrcrResult.repo_key.in_(sorted(repo_keys)))
    return _by_repo(session, _last_attempts(wanted))


def _finished(days: int, now: datetime) -> ColumnElement[bool]:
    return and_(completed_since(range_start(now, days)), CrcrResult.pr_number > 0)


def _by_repo(session: Session, wanted: ColumnElement[bool]) -> dict[str, Figures]:
    whole = _end_to_end(session, wanted)
    return {row.repo_key: _figures(row, sorted(whole.get(row.repo_key, ()))) for row in session.execute(_rates(wanted))}


def _figures(row: Any, runs: Sequence[float]) -> Figures:
    return Figures(
        repo=row.repo,
        successes=int(row.successes),
        failures=int(row.failures),
        timed_out=int(row.timed_out),
        total_jobs=int(row.total_jobs),
        total_prs=int(row.total_prs),
        avg_queue_time_s=row.avg_queue_time_s,
        avg_exec_time_s=row.avg_exec_time_s,
        max_exec_time_s=row.max_exec_time_s,
        overrun_rate=share(int(row.overruns), int(row.judged_for_overrun)),
        median_e2e_time_s=quantile(runs, 0.5),
        p95_e2e_time_s=quantile(runs, 0.95),
    )


def quantile(ordered: Sequence[float], level: float) -> float | None:
    """The value at this place of a sorted list; None of an empty one."""
    return ordered[min(math.floor(level * len(ordered)), len(ordered) - 1)] if ordered else None


def _last_attempts(wanted: ColumnElement[bool]) -> ColumnElement[bool]:
    """Of these rows the last attempt of each job. Few jobs are tried again: only those are looked up."""
    job = (*_RUN, CrcrResult.workflow_name, CrcrResult.job_name)
    again = and_(wanted, CrcrResult.run_attempt > 1)
    last = select(*job, func.max(CrcrResult.run_attempt)).where(again).group_by(*job)
    return and_(
        wanted,
        or_(
            tuple_(*job).not_in(select(*job).where(again)),
            tuple_(*job, CrcrResult.run_attempt).in_(last),
        ),
    )


def _rates(wanted: ColumnElement[bool]) -> Any:
    # A timed-out job's time is that of the limit, and it is punished by its own rate already.
    in_time = CrcrResult.conclusion != TIMED_OUT
    overran = and_(in_time, CrcrResult.execution_time > OVERRUN_AFTER.total_seconds())
    return (
        select(
            CrcrResult.repo_key,
            func.max(CrcrResult.downstream_repo).label("repo"),
            *tally(),
            func.count().label("total_jobs"),
            func.count(CrcrResult.pr_number.distinct()).label("total_prs"),
            func.avg(CrcrResult.queue_time).label("avg_queue_time_s"),
            func.avg(CrcrResult.execution_time).label("avg_exec_time_s"),
            func.max(case((in_time, CrcrResult.execution_time))).label("max_exec_time_s"),
            func.sum(case((overran, 1), else_=0)).label("overruns"),
            func.sum(case((in_time, 1), else_=0)).label("judged_for_overrun"),
        )
        .where(wanted)
        .group_by(CrcrResult.repo_key)
    )


def _end_to_end(session: Session, wanted: ColumnElement[bool]) -> dict[str, list[float]]:
    """Of every run: the longest wait of its jobs, and from the start of the first to the end of the last. Runs that
    tell no wait or no time are left out."""
    wait = func.max(CrcrResult.queue_time)
    span = WholeSeconds(func.min(CrcrResult.started_at), func.max(CrcrResult.completed_at))
    runs = session.execute(
        select(CrcrResult.repo_key, wait, span).where(wanted).group_by(*_RUN).having(and_(wait.is_not(None), span >= 0))
    )
    found: dict[str, list[float]] = {}
    for key, waited, ran in runs:
        found.setdefault(key, []).append(float(waited or 0) + float(ran))
    return found


def backend_summary(session: Session, *, repo: str, days: int, now: datetime) -> list[dict[str, Any]]:
    """`crcr_backend_summary`: always one row, of zeros when nothing was reported."""
    found = _by_repo(session, and_(_finished(days, now), CrcrResult.repo_key == repo_key(repo)))
    figures = found.get(repo_key(repo)) or Figures(repo, 0, 0, 0, 0, 0, None, None, None, 0.0, None, None)
    names = [name for name in Figures.__slots__ if name != "repo"]
    return [
        {name: getattr(figures, name) for name in names}
        | {"pass_rate": figures.pass_rate, "timeout_rate": figures.timeout_rate}
    ]
