"""One backend's matrix: its jobs for pull requests (`crcr_backend_dashboard`) and of scheduled runs
(`crcr_nightly_dashboard`), by page.

Reads only. A page holds whole lines: all jobs of each pull request, or of each scheduled run, on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from relay.allowlist.types import repo_key
from relay.hud.counting import range_start
from relay.hud.evidence import Evidence
from relay.hud.rows import CELL_COLUMNS, as_json
from relay.hud.untrusted import is_sha
from relay.store.crcr_models import CrcrResult

#: Rows of one answer, so that no reader can ask for the whole store.
ROWS_AT_MOST = 20_000

#: Newest first; the id decides between jobs that started at once.
_NEWEST = (CrcrResult.listed_at.desc(), CrcrResult.id.desc())


def backend_dashboard(
    session: Session, *, repo: str, days: int, per_page: int, offset: int, now: datetime
) -> list[dict[str, Any]]:
    """All jobs of the page's pull requests, newest first. `sha_since` is when a commit was first heard of, in or out of
    the range: it tells a new commit from an old one that was tried again."""
    wanted = and_(_of(repo), CrcrResult.listed_at > range_start(now, days), CrcrResult.pr_number > 0)
    page = (
        select(CrcrResult.pr_number)
        .where(wanted)
        .group_by(CrcrResult.pr_number)
        .order_by(func.max(CrcrResult.listed_at).desc(), CrcrResult.pr_number.desc())
        .limit(per_page)
        .offset(offset)
    )
    numbers = list(session.scalars(page))
    rows = _rows(session, and_(wanted, CrcrResult.pr_number.in_(numbers)))
    since = commits_since(session, and_(_of(repo), CrcrResult.pr_number.in_(numbers)))
    beside = Evidence(session, rows)
    return [_cell(row, since, beside) for row in rows]


def _cell(row: CrcrResult, since: dict[tuple[int, str], datetime], beside: Evidence) -> dict[str, Any]:
    more = {"sha_since": since[row.pr_number, row.pytorch_head_sha], "downstream_repo_level": row.downstream_repo_level}
    return as_json(row, CELL_COLUMNS, **more, **beside.of(row))


def commits_since(session: Session, wanted: ColumnElement[bool]) -> dict[tuple[int, str], datetime]:
    """When each commit of a pull request was first heard of."""
    first = (
        select(CrcrResult.pr_number, CrcrResult.pytorch_head_sha, func.min(CrcrResult.first_seen_at))
        .where(wanted)
        .group_by(CrcrResult.pr_number, CrcrResult.pytorch_head_sha)
    )
    return {(number, sha): moment for number, sha, moment in session.execute(first)}


def nightly_dashboard(
    session: Session, *, repo: str, days: int, event_type: str, per_page: int, offset: int, now: datetime
) -> list[dict[str, Any]]:
    """The latest attempt of every job of the page's runs, newest first. A run that has one job in the range is there
    whole."""
    wanted = and_(_of(repo), CrcrResult.event_type == event_type)
    runs = _scheduled_runs(session, and_(wanted, CrcrResult.listed_at > range_start(now, days)))
    page = dict(list(runs.items())[offset : offset + per_page])
    found = _rows(session, and_(wanted, _of_runs(page.values())))
    rows = [row for row in found if run_of(row.pytorch_head_sha, row.run_id) in page]
    return [as_json(row, CELL_COLUMNS) for row in _latest_attempts(rows)]


def run_of(sha: str, run_id: str) -> str:
    """What makes scheduled jobs one run: the commit that they tested; where a reporter names none, its build."""
    return f"sha:{sha}" if is_sha(sha) else f"run:{run_id or sha}"


def _scheduled_runs(session: Session, wanted: ColumnElement[bool]) -> dict[str, set[tuple[str, str]]]:
    """The runs, newest first, each with the (commit, run id) of its jobs."""
    pairs = session.execute(
        select(CrcrResult.pytorch_head_sha, CrcrResult.run_id)
        .where(wanted)
        .group_by(CrcrResult.pytorch_head_sha, CrcrResult.run_id)
        .order_by(func.max(CrcrResult.listed_at).desc(), func.max(CrcrResult.id).desc())
    )
    runs: dict[str, set[tuple[str, str]]] = {}
    for sha, run_id in pairs:
        runs.setdefault(run_of(sha, run_id), set()).add((sha, run_id))
    return runs


def _of_runs(runs: Iterable[set[tuple[str, str]]]) -> ColumnElement[bool]:
    """Rows of these runs, jobs outside the range included, and perhaps a few others."""
    pairs = [pair for run in runs for pair in run]
    named = {sha for sha, run_id in pairs if is_sha(sha) or not run_id}
    builds = {run_id for sha, run_id in pairs if run_id and not is_sha(sha)}
    return or_(CrcrResult.pytorch_head_sha.in_(sorted(named)), CrcrResult.run_id.in_(sorted(builds)))


def _latest_attempts(rows: Sequence[CrcrResult]) -> Iterable[CrcrResult]:
    latest: dict[tuple[str, ...], int] = {}
    for row in rows:
        latest[_job(row)] = max(latest.get(_job(row), 0), row.run_attempt)
    return (row for row in rows if row.run_attempt == latest[_job(row)])


def _job(row: CrcrResult) -> tuple[str, ...]:
    return (row.pytorch_head_sha, row.run_id, row.workflow_name, row.job_name)


def _of(repo: str) -> ColumnElement[bool]:
    return CrcrResult.repo_key == repo_key(repo)


def _rows(session: Session, wanted: ColumnElement[bool]) -> Sequence[CrcrResult]:
    return session.scalars(select(CrcrResult).where(wanted).order_by(*_NEWEST).limit(ROWS_AT_MOST)).all()
