"""Workflow runs of backends: started by dispatches, moved on by whoever plays the backend, re-run and cancelled.

Source: https://docs.github.com/en/rest/actions/workflow-runs
"""

from __future__ import annotations

from relay.devgithub.records import RefusedError, Repository, WorkflowRun, not_found
from relay.devgithub.state import DevGitHub

ALREADY_RUNNING = "This workflow is already running"


def start_run(
    state: DevGitHub, repository: Repository, *, event: str, name: str = "crcr", head_sha: str = ""
) -> WorkflowRun:
    """A new queued run at the tip of the default branch; the SHA follows from the repository when no tip is known."""
    tip = repository.source.commit(repository.default_branch)
    sha = head_sha or (tip.sha if tip else f"{repository.id:040x}")
    with state.lock:
        made = WorkflowRun(
            id=state.next_id(),
            number=len(repository.runs) + 1,
            name=name,
            event=event,
            head_sha=sha,
            created_at=state.now(),
            updated_at=state.now(),
        )
        repository.runs[made.id] = made
    return made


def find_run(repository: Repository, run_id: int) -> WorkflowRun:
    """A run. Raises RefusedError 404."""
    if run_id not in repository.runs:
        raise not_found()
    return repository.runs[run_id]


def move_run(state: DevGitHub, repo: str, run_id: int, status: str, conclusion: str | None = None) -> WorkflowRun:
    """Play the backend: the run is now `in_progress`, or `completed` with a conclusion.

    Raises:
        RefusedError: 404 for an unknown run, 422 for a completed run without a conclusion or the reverse.
    """
    run = find_run(state.repository(repo), run_id)
    if (status == "completed") != (conclusion is not None):
        raise RefusedError(422, "a run has a conclusion when it is completed, and only then")
    run.status, run.conclusion, run.updated_at = status, conclusion, state.now()
    return run


def rerun(state: DevGitHub, repository: Repository, run_id: int, *, failed_only: bool) -> WorkflowRun:
    """Begin the next attempt of a run that is over: the same id, queued. Raises RefusedError 404, or 403 while it
    runs."""
    run = find_run(repository, run_id)
    with state.lock:
        if run.status != "completed":
            raise RefusedError(403, ALREADY_RUNNING)
        run.attempt += 1
        run.status, run.conclusion, run.updated_at, run.failed_only = "queued", None, state.now(), failed_only
    return run


def cancel(state: DevGitHub, repository: Repository, run_id: int) -> WorkflowRun:
    """End a run as cancelled. Raises RefusedError 404, or 409 when it is over."""
    run = find_run(repository, run_id)
    with state.lock:
        if run.status == "completed":
            raise RefusedError(409, "Cannot cancel a workflow run that is completed.")
        run.status, run.conclusion, run.updated_at = "completed", "cancelled", state.now()
    return run
