"""The operator API: run again, cancel. Thin over `relay.runs.creation`; the operator token is the only permission."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from relay.context import Context
from relay.runs.creation import cancel_run, rerun
from relay.runs.queries import run_summary
from relay.views import RunSummary
from relay.web.auth import OperatorOnly

router = APIRouter(prefix="/api/v1/runs", tags=["operator"], dependencies=[OperatorOnly])

FULL_BY_OPERATOR = "an operator asked for every test"


class RerunRequest(BaseModel):
    """`failed`: only the tests that did not end well. `full`: every test that the manifests admit, without a selection.
    `tests`: only these, by their whole ids, each planned by that run. Without any, the same as before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    failed: bool = False
    full: bool = False
    tests: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...], Field(max_length=500)] = ()


@router.post("/{run_id}/rerun", status_code=201)
def rerun_run(context: Context, run_id: int, wanted: RerunRequest | None = None) -> RunSummary:
    """Opens a new run of the same change and wakes a worker for it."""
    wanted = wanted or RerunRequest()
    full = FULL_BY_OPERATOR if wanted.full else ""
    with context.store.writing() as session:
        run = rerun(session, run_id, context.now(), failed_only=wanted.failed, full=full, tests=wanted.tests)
        summary = run_summary(session, run.id, context.settings.public_url)
    context.waker.wake(summary.device)
    return summary


@router.post("/{run_id}/cancel")
def cancel(context: Context, run_id: int) -> RunSummary:
    """Cancels an unfinished run; a run that has ended is answered as it is."""
    with context.store.writing() as session:
        cancel_run(session, run_id, context.now(), "Cancelled by an operator.")
        return run_summary(session, run_id, context.settings.public_url)
