"""The JSON of check runs, check suites and workflow runs, as GitHub writes it."""

from __future__ import annotations

from relay.devgithub.bodies import (
    Json,
    api_url,
    app,
    maybe_moment,
    minimal_repository,
    moment,
    node_id,
    user,
    web_url,
)
from relay.devgithub.records import CheckRun, CheckSuite, Repository, WorkflowRun
from relay.devgithub.sources import Commit
from relay.devgithub.state import DevGitHub


def check_run(state: DevGitHub, repository: Repository, of: CheckRun) -> Json:
    """`check-run`."""
    own = f"/check-runs/{of.id}"
    return {
        "id": of.id,
        "name": of.name,
        "node_id": node_id("CR", of.id),
        "head_sha": of.suite.head_sha,
        "external_id": of.external_id,
        "url": api_url(state, repository, own),
        "html_url": web_url(state, repository, f"/runs/{of.id}"),
        "details_url": of.details_url or f"{state.url}/apps/{of.suite.app.slug}",
        "status": of.status,
        "conclusion": of.conclusion,
        "started_at": maybe_moment(of.started_at),
        "completed_at": maybe_moment(of.completed_at),
        "output": {
            "title": of.output.get("title"),
            "summary": of.output.get("summary"),
            "text": of.output.get("text"),
            "annotations_count": len(of.output.get("annotations", ())),
            "annotations_url": api_url(state, repository, f"{own}/annotations"),
        },
        "check_suite": {"id": of.suite.id},
        "app": app(state, of.suite.app),
        "pull_requests": [],
    }


def hooked_check_run(state: DevGitHub, repository: Repository, of: CheckRun) -> Json:
    """`check-run-with-simple-check-suite`, as in a `check_run` event."""
    return {**check_run(state, repository, of), "check_suite": _simple_suite(state, repository, of.suite)}


def _simple_suite(state: DevGitHub, repository: Repository, of: CheckSuite) -> Json:
    status, conclusion = suite_state(repository, of)
    return {
        "id": of.id,
        "node_id": node_id("CS", of.id),
        "head_branch": None,
        "head_sha": of.head_sha,
        "status": status,
        "conclusion": conclusion,
        "url": api_url(state, repository, f"/check-suites/{of.id}"),
        "before": None,
        "after": None,
        "pull_requests": [],
        "app": app(state, of.app),
        "created_at": moment(of.created_at),
        "updated_at": moment(of.updated_at),
    }


def hooked_suite(state: DevGitHub, repository: Repository, of: CheckSuite) -> Json:
    """The suite in a `check_suite` event."""
    known = repository.source.commit(of.head_sha) or Commit(of.head_sha)
    person = {"name": known.author, "email": known.email, "date": moment(known.at)}
    return {
        **_simple_suite(state, repository, of),
        "before": "0" * 40,
        "after": of.head_sha,
        "latest_check_runs_count": len(suite_runs(repository, of)),
        "check_runs_url": api_url(state, repository, f"/check-suites/{of.id}/check-runs"),
        "rerequestable": True,
        "runs_rerequestable": True,
        "head_commit": {
            "id": known.sha,
            "tree_id": known.tree,
            "message": known.message,
            "timestamp": known.at.isoformat(timespec="seconds"),
            "author": person,
            "committer": person,
        },
    }


def suite_runs(repository: Repository, suite: CheckSuite) -> list[CheckRun]:
    """The check runs of a suite, the newest first."""
    return [run for run in reversed(repository.checks.values()) if run.suite is suite]


def suite_state(repository: Repository, suite: CheckSuite) -> tuple[str, str | None]:
    """Status and conclusion of a suite: that of its runs, the worst one when all are over."""
    runs = suite_runs(repository, suite)
    if any(run.status != "completed" for run in runs):
        return "in_progress", None
    if not runs:
        return "queued", None
    bad = [run.conclusion for run in runs if run.conclusion not in ("success", "neutral", "skipped")]
    return "completed", bad[0] if bad else "success"


def workflow_run(state: DevGitHub, repository: Repository, of: WorkflowRun) -> Json:
    """`workflow-run`."""
    own = api_url(state, repository, f"/actions/runs/{of.id}")
    started = moment(of.updated_at if of.attempt > 1 else of.created_at)
    return {
        "id": of.id,
        "name": of.name,
        "node_id": node_id("WFR", of.id),
        "check_suite_id": of.id,
        "check_suite_node_id": node_id("CS", of.id),
        "head_branch": repository.default_branch,
        "head_sha": of.head_sha,
        "path": repository.workflow or ".github/workflows/ci.yml",
        "run_number": of.number,
        "run_attempt": of.attempt,
        "event": of.event,
        "status": of.status,
        "conclusion": of.conclusion,
        "workflow_id": repository.id,
        "url": own,
        "html_url": web_url(state, repository, f"/actions/runs/{of.id}"),
        "pull_requests": [],
        "created_at": moment(of.created_at),
        "updated_at": moment(of.updated_at),
        "actor": user(state, repository.owner),
        "triggering_actor": user(state, repository.owner),
        "run_started_at": started,
        "jobs_url": f"{own}/jobs",
        "logs_url": f"{own}/logs",
        "check_suite_url": api_url(state, repository, f"/check-suites/{of.id}"),
        "artifacts_url": f"{own}/artifacts",
        "cancel_url": f"{own}/cancel",
        "rerun_url": f"{own}/rerun",
        "previous_attempt_url": f"{own}/attempts/{of.attempt - 1}" if of.attempt > 1 else None,
        "workflow_url": api_url(state, repository, f"/actions/workflows/{repository.id}"),
        "display_title": of.name,
        "head_commit": _head_commit(repository, of),
        "repository": minimal_repository(state, repository),
        "head_repository": minimal_repository(state, repository),
    }


def _head_commit(repository: Repository, of: WorkflowRun) -> Json:
    known = repository.source.commit(of.head_sha) or Commit(of.head_sha)
    person = {"name": known.author, "email": known.email}
    return {
        "id": known.sha,
        "tree_id": known.tree,
        "message": known.message,
        "timestamp": moment(known.at),
        "author": person,
        "committer": person,
    }
