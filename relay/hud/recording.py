"""A report, kept as a row of the results store: one row for a job, whatever order its reports come in.

Owns what makes two reports speak of the same job, and what a later one may change. Works in the caller's transaction,
so that a row is there exactly when the rest of the caller's work is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.hud.extract import COMPLETED, IN_PROGRESS, FlatResult, flatten
from relay.store.crcr_models import CrcrResult, Dispatch
from relay.store.upsert import insert_into


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """What became of a report: the row's name on the wire, its own id, and the status that was reported."""

    key: str
    row_id: int
    status: str


def record_result(
    session: Session,
    envelope: Mapping[str, Any],
    now: datetime,
    *,
    triage_verdict: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> RecordedResult:
    """Keep what an envelope (crcr-protocol 1.6) tells, and leave what it does not tell as it was. Of two reports that
    cross, the end stands: a start that arrives after it adds what the end did not know. `triage_verdict` is one that
    was found valid. `strict`: as the original keeps it, a row for each check run, the latest report over all.

    Raises:
        HudError: 400, something is missing that names the row.
    """
    told = flatten(envelope, strict=strict)
    columns = dict(told.columns)
    if not strict:
        columns |= _dispatched(session, told)
    if triage_verdict is not None:
        columns["triage_verdict"] = dict(triage_verdict)
    row = _row(session, told, columns, _identity(told, by_check=strict), now)
    _apply(row, columns, keep_end=not strict)
    row.dynamo_key = told.key
    row.updated_at = now
    row.listed_at = _listed_at(row, now)
    session.flush()
    return RecordedResult(told.key, row.id, columns["status"])


def _identity(told: FlatResult, *, by_check: bool) -> str:
    """Names of workflows and jobs may hold any separator, so they are never joined. The check run is no part of it: a
    backend may report the start and the end of one job from two of its own."""
    parts: list[object] = [told.repo_key, told.delivery, told.workflow, told.job]
    if by_check:
        parts.append(told.columns["check_run_id"])
    else:
        parts += [told.columns["run_id"], told.columns["run_attempt"]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _dispatched(session: Session, told: FlatResult) -> dict[str, Any]:
    """What was tested, by our own record of the delivery: a backend's echo of it proves nothing."""
    if told.self_reported:
        return {}
    known = session.execute(
        select(Dispatch.upstream_repo, Dispatch.pr_number, Dispatch.head_sha).where(
            Dispatch.delivery_id == told.columns["delivery_id"], Dispatch.repo_key == told.repo_key
        )
    ).one_or_none()
    if known is None:
        return {}
    sha = {"pytorch_head_sha": known.head_sha} if known.head_sha else {}
    return {"upstream_repo": known.upstream_repo, "pr_number": known.pr_number or 0, **sha}


def _row(session: Session, told: FlatResult, columns: Mapping[str, Any], identity: str, now: datetime) -> CrcrResult:
    """The job's row, locked; made when there is none. Two first reports at once make one row: the second waits for the
    first and finds what it made."""
    empty = {
        **{name: columns[name] for name in _NEEDED},
        **dict.fromkeys(("first_seen_at", "listed_at", "updated_at"), now),
        "identity": identity,
        "dynamo_key": told.key,
        "repo_key": told.repo_key,
    }
    # With no more than what every report tells: the rest comes the same way to a new row as to an old one.
    session.execute(insert_into(session, CrcrResult).values(empty).on_conflict_do_nothing(index_elements=["identity"]))
    wanted = select(CrcrResult).where(CrcrResult.identity == identity).with_for_update()
    return session.execute(wanted.execution_options(populate_existing=True)).scalar_one()


_NEEDED = (
    *("status", "downstream_repo", "upstream_repo", "pr_number", "pytorch_head_sha", "delivery_id"),
    *("workflow_name", "job_name"),
)


def _apply(row: CrcrResult, columns: Mapping[str, Any], *, keep_end: bool) -> None:
    late = keep_end and row.status == COMPLETED and columns["status"] == IN_PROGRESS
    for name, value in columns.items():
        if not late or getattr(row, name) in (None, ""):
            setattr(row, name, value)


def _listed_at(row: CrcrResult, now: datetime) -> datetime:
    """Never later than now: a clock that runs ahead would keep a job on top of every list."""
    return min(row.started_at or row.completed_at or row.first_seen_at, now)
