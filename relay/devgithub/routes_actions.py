"""Routes of dispatches and workflow runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from relay.devgithub import dispatches, workflow_runs
from relay.devgithub.access import CallerOf, RepositoryOf, State
from relay.devgithub.bodies import Json
from relay.devgithub.check_bodies import workflow_run
from relay.devgithub.paging import PageNumber, PageSize, page_of
from relay.devgithub.records import RefusedError

router = APIRouter(prefix="/repos/{owner}/{repo}")


@router.post("/dispatches", status_code=204)
def dispatch(
    repository: RepositoryOf, caller: CallerOf, state: State, body: Annotated[dict[str, Any], Body()]
) -> Response:
    """Start what listens for this event in the repository."""
    caller.check(repository, "contents", "write")
    if caller.app is None:
        raise RefusedError(401, "Requires authentication")
    dispatches.dispatch(state, repository, caller.app, body)
    return Response(status_code=204)


@router.get("/actions/runs")
def list_runs(
    repository: RepositoryOf,
    caller: CallerOf,
    state: State,
    request: Request,
    response: Response,
    *,
    event: str = "",
    status: str = "",
    head_sha: str = "",
    page: PageNumber = 1,
    per_page: PageSize = 30,
) -> Json:
    """The runs of the repository, the newest first. `status` takes a conclusion as well."""
    caller.check(repository, "actions")
    kept = [
        run
        for run in reversed(repository.runs.values())
        if event in ("", run.event) and status in ("", run.status, run.conclusion) and head_sha in ("", run.head_sha)
    ]
    shown = page_of(kept, page, per_page, request, response)
    return {"total_count": len(kept), "workflow_runs": [workflow_run(state, repository, run) for run in shown]}


@router.get("/actions/runs/{run_id}")
def get_run(run_id: int, repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """One run."""
    caller.check(repository, "actions")
    return workflow_run(state, repository, workflow_runs.find_run(repository, run_id))


@router.post("/actions/runs/{run_id}/rerun", status_code=201)
def rerun(run_id: int, repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """Every job again."""
    caller.check(repository, "actions", "write")
    workflow_runs.rerun(state, repository, run_id, failed_only=False)
    return {}


@router.post("/actions/runs/{run_id}/rerun-failed-jobs", status_code=201)
def rerun_failed_jobs(run_id: int, repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """The failed jobs again."""
    caller.check(repository, "actions", "write")
    workflow_runs.rerun(state, repository, run_id, failed_only=True)
    return {}


@router.post("/actions/runs/{run_id}/cancel", status_code=202)
def cancel(run_id: int, repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """End a run."""
    caller.check(repository, "actions", "write")
    workflow_runs.cancel(state, repository, run_id)
    return {}
