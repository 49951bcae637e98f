"""Backends over HTTP: the figures of their pages, for programs. Reads only.

The original's own addresses for the same are in `relay.web.crcr_queries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query
from sqlalchemy.orm import Session

from relay.allowlist.types import repo_key
from relay.context import Context, RelayContext
from relay.errors import NotFoundError
from relay.hud.counting import rates
from relay.hud.figures import backend_summary
from relay.hud.overview import BackendLine
from relay.hud.percentiles import Spread, job_percentiles
from relay.hud.readiness import LevelStatus
from relay.hud.scheduled import scheduled_figures
from relay.hud.tabs import Tab
from relay.hud.views import (
    BackendDetail,
    BackendList,
    BackendView,
    CountsView,
    CriterionView,
    SpreadView,
    StandingView,
    SummaryView,
)
from relay.web.backend_reading import USUAL_DAYS, Overview, Registered, find_subject, read_overview, read_standing
from relay.web.paging import Limit, Paged, Paging

router = APIRouter(prefix="/api/v1/backends", tags=["backends"])

Event = Annotated[Tab, Query(description="What made the jobs run")]
Days = Annotated[int, Query(ge=1, le=90, description="The range, which ends now")]
Part = Annotated[str, Path(max_length=100, description="A part of the repository's name, `owner/name`")]


@router.get("", summary="Backends, by level")
def backends(
    context: Context, paging: Paged, event: Event = Tab.PULL_REQUEST, days: Days = USUAL_DAYS, limit: Limit = 500
) -> BackendList:
    """Every registered backend and every other that reports, but for the relay's own probe."""
    registered = Registered.of(context)
    with context.store.reading() as session:
        overview = read_overview(session, context, registered, event, days)
    lines = [line for found in overview.lines.values() for line in found]
    rest = lines[_begin(lines, paging) :]
    shown = tuple(_line(line, overview) for line in rest[:limit])
    page = BackendList(event=event, days=days, problem=registered.problem, backends=shown)
    return paging.linked(page, shown[-1].repo if len(rest) > limit else None)


def _begin(lines: Sequence[BackendLine], paging: Paging) -> int:
    """After the backend that the cursor names; after nothing when that is gone, for levels change."""
    if not paging.given:
        return 0
    last = repo_key(paging.name())
    return next((place for place, line in enumerate(lines, 1) if repo_key(line.repo) == last), 0)


@router.get("/{owner}/{name}", summary="One backend")
def backend(
    context: Context, owner: Part, name: Part, event: Event = Tab.PULL_REQUEST, days: Days = USUAL_DAYS
) -> BackendDetail:
    """One backend that is registered or reported something."""
    repo = f"{owner}/{name}"
    with context.store.reading() as session:
        subject = find_subject(session, Registered.of(context), repo)
        if subject is None:
            raise NotFoundError(f"There is no backend {repo}.", "GET /api/v1/backends lists those there are.")
        now = context.now()
        spread = job_percentiles(session, repo=subject.repo, tab=event, days=days, now=now)
        return BackendDetail(
            repo=subject.repo,
            level=subject.level,
            listed=subject.entry is not None,
            event=event,
            days=days,
            counts=_counts(session, context, subject.repo, event, days),
            queue=_spread(spread.queue),
            execution=_spread(spread.execution),
            standing=_standing(read_standing(session, subject, now)),
        )


def _line(line: BackendLine, overview: Overview) -> BackendView:
    key = repo_key(line.repo)
    return BackendView(
        repo=line.repo,
        level=line.level.name,
        listed=line.listed,
        lowering_proposed=key in overview.demoted,
        summary=None if line.figures is None else SummaryView.model_validate(line.figures),
        standing=_standing(overview.standings.get(key)),
    )


def _counts(session: Session, context: RelayContext, repo: str, tab: Tab, days: int) -> CountsView:
    now = context.now()
    if tab.scheduled:
        found = scheduled_figures(session, repo=repo, tab=tab, days=days, now=now)
        counts = {"successes": found.successes, "failures": found.failures, "timed_out": found.timed_out}
        total = found.total
    else:
        (row,) = backend_summary(session, repo=repo, days=days, now=now)
        counts = {name: row[name] for name in ("successes", "failures", "timed_out")}
        total = row["total_jobs"]
    return CountsView.model_validate({**counts, "total": total, **rates(**counts, total=total)})


def _spread(found: Spread) -> SpreadView:
    return SpreadView(jobs=found.jobs, p50_s=found.p50_s, p95_s=found.p95_s)


def _standing(status: LevelStatus | None) -> StandingView | None:
    if status is None:
        return None
    criteria = [
        CriterionView(criterion=one.criterion, measured=one.measured, target=one.target, met=one.met)
        for one in status.criteria
    ]
    return StandingView(
        change=status.change, no_data=status.no_data, window_days=status.window_days, criteria=tuple(criteria)
    )
