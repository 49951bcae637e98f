"""All backends at once: how often their jobs pass (`crcr_summary`, `crcr_nightly_summary`, `crcr_success_rate`).

Reads only, with a fixed number of queries. The formulas are those of 5.1 and 5.3; what is added to them stands in
columns of its own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, func, select, tuple_
from sqlalchemy.orm import Session

from relay.hud.counting import completed_since, duration, range_start, rates, tally
from relay.hud.freshness import Cadences
from relay.hud.rows import written
from relay.store.crcr_models import CrcrResult
from relay.store.sql import UtcDay

#: Events of the three tabs. A pull request's tab goes by its number: results of a tagged push belong to it as well.
NIGHTLY = "nightly"
PERIODIC = "periodic"


def pull_request_summary(session: Session, *, days: int, now: datetime) -> list[dict[str, Any]]:
    """Each backend with results for pull requests, the worst pass rate first."""
    wanted = and_(completed_since(range_start(now, days)), CrcrResult.pr_number > 0)
    return _summary(session, wanted, probe_rule=True)


def scheduled_summary(
    session: Session, *, days: int, event_type: str, now: datetime, cadences: Cadences
) -> list[dict[str, Any]]:
    """Each backend with results of this scheduled event, the worst pass rate first; `stale` are those that should have
    reported again by now."""
    wanted = and_(completed_since(range_start(now, days)), CrcrResult.event_type == event_type)
    found = _summary(session, wanted, probe_rule=False)
    return [row | cadences.judge(row["repo"], event_type, row.pop("listed"), now) for row in found]


def _summary(session: Session, wanted: ColumnElement[bool], *, probe_rule: bool) -> list[dict[str, Any]]:
    latest = _latest(session, wanted)
    groups = session.execute(
        select(
            CrcrResult.repo_key,
            *tally(probe_rule=probe_rule),
            func.count().label("total"),
            func.avg(duration()).label("avg_duration_s"),
        )
        .where(wanted)
        .group_by(CrcrResult.repo_key)
    )
    rows = [_summarised(group._mapping, latest[group.repo_key], with_sha=not probe_rule) for group in groups]
    return sorted(rows, key=lambda row: (row["pass_rate"], row["repo"]))


def _summarised(group: RowMapping, latest: CrcrResult, *, with_sha: bool) -> dict[str, Any]:
    counts = {name: int(group[name]) for name in ("successes", "failures", "timed_out", "total")}
    seconds = group["avg_duration_s"]
    row = {
        "repo": latest.downstream_repo,
        "downstream_repo_level": latest.downstream_repo_level,
        **counts,
        **rates(**counts),
        "avg_duration_s": None if seconds is None else float(seconds),
        "last_run": written(latest.listed_at),
    }
    return row | {"latest_sha": latest.pytorch_head_sha, "listed": latest.listed_at} if with_sha else row


def _latest(session: Session, wanted: ColumnElement[bool]) -> dict[str, CrcrResult]:
    """The newest of these rows of each backend. By the index, for a window over all of them takes seconds."""
    newest = select(CrcrResult.repo_key, func.max(CrcrResult.listed_at)).where(wanted).group_by(CrcrResult.repo_key)
    place = tuple_(CrcrResult.repo_key, CrcrResult.listed_at)
    rows = session.scalars(select(CrcrResult).where(wanted, place.in_(newest)).order_by(CrcrResult.id))
    return {row.repo_key: row for row in rows}


def success_rate(session: Session, *, days: int, event_type: str, now: datetime) -> list[dict[str, Any]]:
    """Each backend's days, for a chart: by the day of the start, in UTC, for exactly this event."""
    day = UtcDay(CrcrResult.listed_at)
    groups = session.execute(
        select(
            day.label("day"),
            CrcrResult.repo_key,
            func.max(CrcrResult.downstream_repo).label("repo"),
            *tally(),
            func.count().label("total"),
        )
        .where(completed_since(range_start(now, days)), CrcrResult.event_type == event_type)
        .group_by(day, CrcrResult.repo_key)
        .order_by(day, CrcrResult.repo_key)
    )
    return [_rated(group._mapping) for group in groups]


def _rated(group: RowMapping) -> dict[str, Any]:
    counts = {name: int(group[name]) for name in ("successes", "failures", "timed_out", "total")}
    return {"day": group["day"], "repo": group["repo"], **counts, **rates(**counts)}
