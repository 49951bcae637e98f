"""What all backends say of a pull request: for its page (`crcr_pr_results`), for the main grid (`crcr_hud_results`),
and the last pull requests of the probe (`crcr_health_last_prs`). Reads only.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import Session

from relay.hud.backend_pages import ROWS_AT_MOST, commits_since
from relay.hud.counting import OVERDUE_AFTER, PROBE_REPO, rates, tally
from relay.hud.evidence import Evidence
from relay.hud.extract import COMPLETED
from relay.hud.rows import GRID_COLUMNS, PULL_COLUMNS, as_json, written
from relay.store.crcr_models import CrcrResult

#: Levels whose results stand beside upstream's own.
_SHOWN_UPSTREAM = ("L3", "L4")


def pull_request_results(session: Session, *, pr: int) -> list[dict[str, Any]]:
    """All jobs of a pull request, by backend, newest first. `sha_since` is when their commit was first heard of; what
    we know beside the reports stands with them."""
    return _told(session, CrcrResult.pr_number == pr) if pr else []


def commit_results(session: Session, *, sha: str) -> list[dict[str, Any]]:
    """The same of a commit, whatever it was tested for."""
    return _told(session, CrcrResult.pytorch_head_sha == sha)


def _told(session: Session, wanted: ColumnElement[bool]) -> list[dict[str, Any]]:
    since = commits_since(session, wanted)
    order = (CrcrResult.downstream_repo, CrcrResult.listed_at.desc(), CrcrResult.id.desc())
    rows = session.scalars(select(CrcrResult).where(wanted).order_by(*order).limit(ROWS_AT_MOST)).all()
    beside = Evidence(session, rows)
    return [
        as_json(row, PULL_COLUMNS, sha_since=since[row.pr_number, row.pytorch_head_sha], **beside.of(row))
        for row in rows
    ]


def grid_results(session: Session, *, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """The jobs of these pull requests whose backends are shown beside upstream's own."""
    wanted = and_(
        CrcrResult.pr_number.in_([number for number in numbers if number > 0]),
        CrcrResult.downstream_repo_level.in_(_SHOWN_UPSTREAM),
        CrcrResult.repo_key != PROBE_REPO,
    )
    order = (CrcrResult.pr_number, CrcrResult.downstream_repo, CrcrResult.job_name, CrcrResult.id)
    rows = session.scalars(select(CrcrResult).where(wanted).order_by(*order).limit(ROWS_AT_MOST))
    return [as_json(row, GRID_COLUMNS) for row in rows]


def probe_pull_requests(session: Session, *, count: int, now: datetime) -> list[dict[str, Any]]:
    """The last pull requests of the probe, newest first: how many of its jobs ended as meant. `overdue` are jobs that
    should have ended by now; without them a sweep that stopped working would look like health."""
    finished = CrcrResult.status == COMPLETED
    overdue = and_(CrcrResult.status != COMPLETED, CrcrResult.listed_at < now - OVERDUE_AFTER)
    last = func.max(CrcrResult.listed_at).label("last_run")
    successes, _, _ = tally()
    groups = session.execute(
        select(
            CrcrResult.pr_number,
            last,
            successes,
            func.sum(case((finished, 1), else_=0)).label("total"),
            func.sum(case((overdue, 1), else_=0)).label("overdue"),
        )
        .where(CrcrResult.repo_key == PROBE_REPO, CrcrResult.pr_number > 0, or_(finished, overdue))
        .group_by(CrcrResult.pr_number)
        .order_by(last.desc(), CrcrResult.pr_number.desc())
        .limit(count)
    )
    return [_probed(number, moment, int(good), int(total), int(late)) for number, moment, good, total, late in groups]


def _probed(number: int, last_run: datetime, successes: int, total: int, overdue: int) -> dict[str, Any]:
    return {
        "pr_number": number,
        "last_run": written(last_run),
        "successes": successes,
        "total": total,
        "pass_rate": rates(successes, 0, 0, total)["pass_rate"],
        "overdue": overdue,
    }
