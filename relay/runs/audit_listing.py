"""What readers ask about audits: what broke between two of them, and who had seen it. Reads only."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.audit_views import AuditedTest, AuditOutcome, AuditPage, AuditState, AuditView
from relay.errors import NotFoundError
from relay.runs.audits import SETTLED, confirmations, first_push, is_caught, missed_by, newly_broken
from relay.runs.states import FINAL_RUN_STATES, is_row_id
from relay.store.models import Run, RunEvent, Trigger
from relay.views import RunState


def list_audits(session: Session, *, limit: int, before: int | None = None) -> tuple[AuditPage, int | None]:
    """Audits, newest first, `before` that one; and the id before which there are more."""
    query = select(Run).where(Run.trigger == Trigger.AUDIT).order_by(Run.id.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(Run.id < before)
    rows = session.scalars(query).all()
    page = AuditPage(audits=tuple(_view(session, audit) for audit in rows[:limit]))
    return page, rows[limit - 1].id if len(rows) > limit else None


def audit_view(session: Session, audit_id: int) -> AuditView:
    """One audit, by the number of its run.

    Raises:
        NotFoundError: there is no such audit.
    """
    audit = session.get(Run, audit_id) if is_row_id(audit_id) else None
    if audit is None or audit.trigger is not Trigger.AUDIT:
        raise NotFoundError(f"There is no audit {audit_id}.", "relay audit list shows the audits there are.")
    return _view(session, audit)


def _view(session: Session, audit: Run) -> AuditView:
    state = _state(session, audit)
    over = state in (AuditState.CONFIRMING, AuditState.SETTLED)
    broken = newly_broken(session, audit.id) if over else []
    first, settled = first_push(session, audit) if broken else 0, state is AuditState.SETTLED
    tests = tuple(_audited(session, audit, test.test_id, first=first, settled=settled) for test in broken)
    return AuditView(
        id=audit.id,
        device=audit.device,
        base_sha=audit.tested_base_sha or audit.base_sha,
        head_sha=audit.head_sha,
        state=state,
        created_at=audit.created_at,
        finished_at=audit.finished_at,
        tests=tests,
    )


def _audited(session: Session, audit: Run, test_id: str, *, first: int, settled: bool) -> AuditedTest:
    asked = confirmations(session, audit.id, test_id)
    if is_caught(session, audit, test_id, first=first):
        return AuditedTest(test=test_id, outcome=AuditOutcome.CAUGHT, asked=len(asked))
    culprit = missed_by(session, audit, test_id, first=first, asked=asked)
    if culprit is not None:
        return AuditedTest(test=test_id, outcome=AuditOutcome.MISSED, asked=len(asked), missed_by=culprit)
    return AuditedTest(
        test=test_id, outcome=AuditOutcome.UNEXPLAINED if settled else AuditOutcome.CONFIRMING, asked=len(asked)
    )


def _state(session: Session, audit: Run) -> AuditState:
    if audit.state not in FINAL_RUN_STATES:
        return AuditState.RUNNING
    if audit.state is not RunState.FINISHED:
        return AuditState.CALLED_OFF
    settled = select(RunEvent.id).where(RunEvent.run_id == audit.id, RunEvent.kind == SETTLED).limit(1)
    return AuditState.SETTLED if session.scalar(settled) is not None else AuditState.CONFIRMING
