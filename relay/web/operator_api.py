"""The operator API: run again, cancel. Thin over `relay.web.operating`; it takes a token of scope `operate`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from relay.context import Context
from relay.views import RunSummary
from relay.web.auth import Operator, OperatorOnly
from relay.web.operating import call_run_off, run_again

router = APIRouter(prefix="/api/v1/runs", tags=["operator"], dependencies=[OperatorOnly])


class RerunRequest(BaseModel):
    """`failed`: only the tests that did not end well. `full`: every test that the manifests admit, without a selection.
    `tests`: only these, by their whole ids, each planned by that run. Without any, the same as before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    failed: bool = False
    full: bool = False
    tests: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...], Field(max_length=500)] = ()


@router.post("/{run_id}/rerun", status_code=201)
def rerun_run(context: Context, operator: Operator, run_id: int, wanted: RerunRequest | None = None) -> RunSummary:
    """Opens a new run of the same change and wakes a worker for it."""
    wanted = wanted or RerunRequest()
    return run_again(context, operator, run_id, failed=wanted.failed, full=wanted.full, tests=wanted.tests)


@router.post("/{run_id}/cancel")
def cancel(context: Context, operator: Operator, run_id: int) -> RunSummary:
    """Cancels an unfinished run; a run that has ended is answered as it is."""
    return call_run_off(context, operator, run_id)
