"""How long one backend's jobs wait and run: the middle and the slow end, exactly (5.2).

Reads only. The database finds the values by their place, so that no list of all jobs is carried here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from relay.hud.counting import TIMED_OUT
from relay.hud.tabs import Tab, finished_jobs
from relay.store.crcr_models import CrcrResult

_MIDDLE = 50
_SLOW = 95


@dataclass(frozen=True, slots=True)
class Spread:
    """Of `jobs` that told the value, in seconds; None when none did."""

    jobs: int = 0
    p50_s: float | None = None
    p95_s: float | None = None


@dataclass(frozen=True, slots=True)
class Percentiles:
    """How long jobs waited, and how long they ran. A job that was ended by its limit tells nothing of the second."""

    queue: Spread
    execution: Spread


def job_percentiles(session: Session, *, repo: str, tab: Tab, days: int, now: datetime) -> Percentiles:
    """Of one backend's finished jobs on a tab, in two queries."""
    wanted = finished_jobs(repo, tab, days=days, now=now)
    in_time = and_(wanted, CrcrResult.conclusion != TIMED_OUT)
    return Percentiles(
        queue=_spread(session, CrcrResult.queue_time, wanted),
        execution=_spread(session, CrcrResult.execution_time, in_time),
    )


def _spread(session: Session, value: InstrumentedAttribute[float | None], wanted: ColumnElement[bool]) -> Spread:
    """The values at the places that `relay.hud.figures.quantile` takes."""
    ranked = (
        select(
            value.label("value"),
            (func.row_number().over(order_by=value) - 1).label("place"),
            func.count().over().label("jobs"),
        )
        .where(wanted, value.is_not(None))
        .subquery()
    )
    found = {
        place: (seconds, jobs)
        for seconds, place, jobs in session.execute(
            select(ranked.c.value, ranked.c.place, ranked.c.jobs).where(
                or_(*(ranked.c.place == _place(ranked.c.jobs, percent) for percent in (_MIDDLE, _SLOW)))
            )
        )
    }
    if not found:
        return Spread()
    jobs = next(iter(found.values()))[1]
    return Spread(jobs, found[_place(jobs, _MIDDLE)][0], found[_place(jobs, _SLOW)][0])


def _place(jobs: Any, percent: int) -> Any:
    """Counts from 0; the same arithmetic of whole numbers here and in the database."""
    return jobs * percent // 100
