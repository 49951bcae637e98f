"""Audits over HTTP: everybody may read them, an operator starts one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.access.actions import record_action
from relay.audit_views import AuditPage, AuditView
from relay.context import Context
from relay.errors import ConflictError
from relay.runs.audit_listing import audit_view, list_audits
from relay.runs.audits import open_audit
from relay.served import not_served
from relay.web.auth import Operator
from relay.web.paging import Paged
from relay.web.read_api import RunId
from relay.web.refusals import refuses

router = APIRouter(prefix="/api/v1/audits", tags=["audits"])

_NOT_SERVED = not_served("basalt", ("spyre", "quartz"))
_NOTHING_NEW = ConflictError(
    "No push of pytorch/pytorch is on record yet.", "Wait for one; the relay audits what was pushed."
)


@router.get("", summary="Audits, newest first")
def audits(
    context: Context,
    paging: Paged,
    limit: Annotated[int, Query(ge=1, le=100, description="At most so many in one page")] = 20,
) -> AuditPage:
    """Each with what broke since the audit before, and which selection missed it."""
    with context.store.reading() as session:
        page, more = list_audits(session, limit=limit, before=paging.number())
    return paging.linked(page, more)


@router.get("/{audit_id}", summary="One audit")
def audit(context: Context, audit_id: RunId) -> AuditView:
    """One audit: what broke since the one before, and whose selection missed it."""
    with context.store.reading() as session:
        return audit_view(session, audit_id)


@router.post("", status_code=201, summary="Start an audit", responses=refuses(_NOTHING_NEW, _NOT_SERVED))
def start(
    context: Context,
    operator: Operator,
    device: Annotated[
        str, Query(max_length=100, description="On this device; on the one that is shown first if left out")
    ] = "",
) -> AuditView:
    """Runs every test on the newest pushed head against the head of the audit before."""
    chosen = device or context.settings.device
    if context.backend_of(chosen) is None:
        raise not_served(chosen, context.devices)
    with context.store.writing() as session:
        run = open_audit(session, context.settings.upstream_repo, chosen, context.now())
        record_action(session, operator, "audit.start", context.now(), subject=f"audit {run.id}", run_id=run.id)
        view = audit_view(session, run.id)
    context.waker.wake(view.device)
    return view
