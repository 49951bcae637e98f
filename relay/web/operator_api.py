"""The operator API: run again, cancel. Thin over `relay.web.operating`; it takes a token of scope `operate`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from relay.context import Context
from relay.contract.texts import Flag
from relay.errors import ConflictError
from relay.views import RunSummary
from relay.web.auth import Operator, OperatorOnly
from relay.web.operating import call_run_off, run_again
from relay.web.refusals import refuses

router = APIRouter(prefix="/api/v1/runs", tags=["operator"], dependencies=[OperatorOnly])

_UNFINISHED = ConflictError(
    "Run 128 is not finished yet; it is running.", "Wait for it (relay run watch 128), or cancel it first."
)


AnyRunId = Annotated[int, Path(description="A run's number")]


class RerunRequest(BaseModel):
    """`failed`: only the tests that did not end well. `full`: every test that the manifests admit, without a selection.
    `tests`: only these, by their whole ids, each planned by that run. Without any, the same as before."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": [{"failed": True}]})

    failed: Flag = False
    full: Flag = False
    tests: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...], Field(max_length=500)] = ()


@router.post("/{run_id}/rerun", status_code=201, summary="Run again", responses=refuses(_UNFINISHED))
def rerun_run(context: Context, operator: Operator, run_id: AnyRunId, wanted: RerunRequest | None = None) -> RunSummary:
    """Opens a new run of the same change and wakes a worker for it."""
    wanted = wanted or RerunRequest()
    return run_again(context, operator, run_id, failed=wanted.failed, full=wanted.full, tests=wanted.tests)


@router.post("/{run_id}/cancel", summary="Cancel a run")
def cancel(context: Context, operator: Operator, run_id: AnyRunId) -> RunSummary:
    """Cancels an unfinished run; a run that has ended is answered as it is."""
    return call_run_off(context, operator, run_id)
