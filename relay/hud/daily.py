"""One backend's finished jobs day by day, for its chart (5.3). Reads only; a day is one of UTC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.hud.counting import tally
from relay.hud.tabs import Tab, finished_jobs
from relay.store.crcr_models import CrcrResult
from relay.store.sql import UtcDay


@dataclass(frozen=True, slots=True)
class DayCounts:
    """Of jobs that started on this day."""

    day: date
    successes: int
    failures: int
    timed_out: int
    total: int


def daily_counts(session: Session, *, repo: str, tab: Tab, days: int, now: datetime) -> tuple[DayCounts, ...]:
    """The days on which a job started that has finished, the first one first."""
    day = UtcDay(CrcrResult.listed_at)
    groups: Iterable[Any] = session.execute(
        select(day, *tally(probe_rule=not tab.scheduled), func.count())
        .where(finished_jobs(repo, tab, days=days, now=now))
        .group_by(day)
        .order_by(day)
    )
    return tuple(
        DayCounts(date.fromisoformat(name), int(successes), int(failures), int(timed_out), int(total))
        for name, successes, failures, timed_out, total in groups
    )
