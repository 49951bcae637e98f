"""Finished jobs of backends day by day, for their charts (5.3). Reads only; a day is one of UTC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from relay.hud.counting import tally
from relay.hud.tabs import Tab, all_finished_jobs, finished_jobs
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


@dataclass(frozen=True, slots=True)
class BackendDays:
    """The days of one backend; `key` is its name without letter case."""

    key: str
    repo: str
    counts: tuple[DayCounts, ...]


def daily_counts(session: Session, *, repo: str, tab: Tab, days: int, now: datetime) -> tuple[DayCounts, ...]:
    """The days on which a job started that has finished, the first one first."""
    found = _by_backend(session, finished_jobs(repo, tab, days=days, now=now), tab)
    return found[0].counts if found else ()


def daily_counts_of_all(session: Session, *, tab: Tab, days: int, now: datetime) -> tuple[BackendDays, ...]:
    """The same of every backend that has any, by name."""
    return _by_backend(session, all_finished_jobs(tab, days=days, now=now), tab)


def summed(backends: Iterable[BackendDays]) -> tuple[DayCounts, ...]:
    """The days of these backends together."""
    by_day: defaultdict[date, list[DayCounts]] = defaultdict(list)
    for backend in backends:
        for one in backend.counts:
            by_day[one.day].append(one)
    return tuple(_sum(day, by_day[day]) for day in sorted(by_day))


def _sum(day: date, counts: Sequence[DayCounts]) -> DayCounts:
    return DayCounts(
        day,
        sum(one.successes for one in counts),
        sum(one.failures for one in counts),
        sum(one.timed_out for one in counts),
        sum(one.total for one in counts),
    )


def _by_backend(session: Session, wanted: ColumnElement[bool], tab: Tab) -> tuple[BackendDays, ...]:
    day = UtcDay(CrcrResult.listed_at)
    groups: Iterable[Any] = session.execute(
        select(
            *(CrcrResult.repo_key, func.max(CrcrResult.downstream_repo), day),
            *(*tally(probe_rule=not tab.scheduled), func.count()),
        )
        .where(wanted)
        .group_by(CrcrResult.repo_key, day)
        .order_by(CrcrResult.repo_key, day)
    )
    names: dict[str, str] = {}
    counts: defaultdict[str, list[DayCounts]] = defaultdict(list)
    for key, repo, name, successes, failures, timed_out, total in groups:
        names[key] = max(names.get(key, ""), repo)
        counts[key].append(
            DayCounts(date.fromisoformat(name), int(successes), int(failures), int(timed_out), int(total))
        )
    return tuple(BackendDays(key, names[key], tuple(found)) for key, found in counts.items())
