"""What operators do with runs: done, and written to the audit log, in the caller's transaction.

For the API, the pages and comments alike. Who may is settled by then; commit first, then wake workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from relay.access.actions import Actor, record_action
from relay.runs.creation import cancel_run, rerun
from relay.store.models import Run

FULL_BY_OPERATOR = "an operator asked for every test"


def run_again(
    session: Session,
    actor: Actor,
    run_id: int,
    now: datetime,
    *,
    failed: bool = False,
    full: str = "",
    tests: Sequence[str] = (),
    where: str = "",
) -> Run:
    """A new run of the same change, opened for `actor`; `full` says why every test runs, `where` it was asked for.
    Raises as `relay.runs.creation.rerun`."""
    run = rerun(session, run_id, now, failed_only=failed, full=full, tests=tests)
    what = "every test" if full else "the failed tests" if failed else _named(tests)
    detail = f"{what}, as run {run.id}{where and f', {where}'}"
    record_action(session, actor, "run.rerun", now, subject=f"run {run_id}", detail=detail, run_id=run_id)
    return run


def call_run_off(
    session: Session, actor: Actor, run_id: int, now: datetime, *, by: str = "an operator", where: str = ""
) -> Run:
    """The run, cancelled for `actor` if it was not over. Raises NotFoundError."""
    run = cancel_run(session, run_id, now, f"Cancelled by {by}.")
    record_action(session, actor, "run.cancel", now, subject=f"run {run_id}", detail=where, run_id=run_id)
    return run


def _named(tests: Sequence[str]) -> str:
    if not tests:
        return "all of it"
    return tests[0] if len(tests) == 1 else f"{len(tests)} tests by name"
