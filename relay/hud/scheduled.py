"""The figures of one backend's scheduled runs (5.2), and whether a backend ever reported anything. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.allowlist.types import repo_key
from relay.hud.counting import tally
from relay.hud.tabs import Tab, finished_jobs
from relay.store.crcr_models import CrcrResult


@dataclass(frozen=True, slots=True)
class ScheduledFigures:
    """Of finished jobs in a range. `commits` are the different ones that were tested, `last` is when the newest job
    started."""

    successes: int
    failures: int
    timed_out: int
    total: int
    commits: int
    last: datetime | None


def scheduled_figures(session: Session, *, repo: str, tab: Tab, days: int, now: datetime) -> ScheduledFigures:
    """One backend's, all zero when nothing was reported."""
    row: Any = session.execute(
        select(
            *tally(probe_rule=False),
            func.count(),
            func.count(CrcrResult.pytorch_head_sha.distinct()),
            func.max(CrcrResult.listed_at),
        ).where(finished_jobs(repo, tab, days=days, now=now))
    ).one()
    successes, failures, timed_out, total, commits, last = row
    return ScheduledFigures(int(successes), int(failures), int(timed_out), total, commits, last)


def reported_name(session: Session, repo: str) -> tuple[str, str] | None:
    """How a backend writes its name and which level it told last; None when it never reported."""
    if "\0" in repo:
        return None  # PostgreSQL refuses to compare a text with NUL
    newest = (
        select(CrcrResult.downstream_repo, CrcrResult.downstream_repo_level)
        .where(CrcrResult.repo_key == repo_key(repo))
        .order_by(CrcrResult.listed_at.desc())
        .limit(1)
    )
    found = session.execute(newest).first()
    return None if found is None else (found[0], found[1])
