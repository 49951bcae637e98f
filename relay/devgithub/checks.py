"""Check runs: written by apps, asked for again by people.

Sources: https://docs.github.com/en/rest/checks/runs and /suites.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from relay.devgithub.bodies import full_repository, user
from relay.devgithub.check_bodies import hooked_check_run, hooked_suite, suite_runs
from relay.devgithub.records import App, CheckRun, CheckSuite, Delivery, RefusedError, Repository, not_found
from relay.devgithub.state import DevGitHub

CONCLUSIONS = frozenset(
    ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out")
)
#: What an app may say; GitHub has more for its own Actions.
STATUSES = frozenset(("queued", "in_progress", "completed"))
_TEXT_CAP = 65_535


def create_check_run(state: DevGitHub, repository: Repository, app: App, fields: Mapping[str, Any]) -> CheckRun:
    """Make a check run in the suite of this app and commit.

    Raises:
        RefusedError: 422 for what GitHub refuses: no name, an unknown commit, a completed run without a conclusion.
    """
    name, sha = fields.get("name"), fields.get("head_sha")
    if not isinstance(name, str) or not name or not isinstance(sha, str):
        raise RefusedError(422, 'Invalid request.\n\n"name" and "head_sha" weren\'t supplied.')
    if repository.source.commit(sha) is None:
        raise RefusedError(422, f"No commit found for SHA: {sha}")
    with state.lock:
        made = CheckRun(state.next_id(), _suite(state, repository, app, sha), name, started_at=state.now())
        _write(state, made, fields)
        repository.checks[made.id] = made
    state.announce_later(repository, "check_run", _event(state, repository, made, "created"), only=app)
    return made


def update_check_run(
    state: DevGitHub, repository: Repository, app: App, check_id: int, fields: Mapping[str, Any]
) -> CheckRun:
    """Change a check run of this app. Raises RefusedError 404, 403 for another app's, 422 as on creation."""
    found = find_check_run(repository, check_id)
    if found.suite.app is not app:
        raise RefusedError(403, "Invalid app_id - check run can only be modified by the GitHub App that created it.")
    with state.lock:
        before = found.status
        _write(state, found, fields)
        found.name = fields.get("name", found.name)
        found.suite.updated_at = state.now()
    if found.status == "completed" != before:
        state.announce_later(repository, "check_run", _event(state, repository, found, "completed"), only=app)
    return found


def find_check_run(repository: Repository, check_id: int) -> CheckRun:
    """A check run. Raises RefusedError 404."""
    if check_id not in repository.checks:
        raise not_found()
    return repository.checks[check_id]


def find_suite(repository: Repository, suite_id: int) -> CheckSuite:
    """A check suite. Raises RefusedError 404."""
    if suite_id not in repository.suites:
        raise not_found()
    return repository.suites[suite_id]


def newest_of_each_name(runs: list[CheckRun]) -> list[CheckRun]:
    """What a commit's page shows (`filter=latest`): of check runs with one name the newest; `runs` are newest first."""
    seen: dict[str, CheckRun] = {}
    for run in runs:
        seen.setdefault(run.name, run)
    return list(seen.values())


def rerequest_check_run(state: DevGitHub, repo: str, check_id: int, person: str = "contributor") -> list[Delivery]:
    """Press "Re-run" at a check run: its app is told. Raises RefusedError 404."""
    repository = state.repository(repo)
    check = find_check_run(repository, check_id)
    payload = _event(state, repository, check, "rerequested", person)
    return state.announce(repository, "check_run", payload, only=check.suite.app)


def rerequest_suite(state: DevGitHub, repo: str, suite_id: int, person: str = "contributor") -> list[Delivery]:
    """Press "Re-run all checks": the suite's app is told. Raises RefusedError 404."""
    repository = state.repository(repo)
    suite = find_suite(repository, suite_id)
    payload = {
        "action": "rerequested",
        "check_suite": hooked_suite(state, repository, suite),
        "repository": full_repository(state, repository),
        "sender": user(state, person),
    }
    return state.announce(repository, "check_suite", payload, only=suite.app)


def checks_on(repository: Repository, sha: str) -> list[CheckRun]:
    """Every check run on a commit, the newest first."""
    suites = [suite for suite in repository.suites.values() if suite.head_sha == sha]
    return sorted((run for suite in suites for run in suite_runs(repository, suite)), key=lambda run: -run.id)


def _suite(state: DevGitHub, repository: Repository, app: App, sha: str) -> CheckSuite:
    for known in repository.suites.values():
        if known.app is app and known.head_sha == sha:
            return known
    made = CheckSuite(state.next_id(), app, sha, state.now(), state.now())
    repository.suites[made.id] = made
    return made


def _write(state: DevGitHub, check: CheckRun, fields: Mapping[str, Any]) -> None:
    """Take over the fields that were sent. A conclusion completes the run, as GitHub documents."""
    conclusion = fields.get("conclusion")
    status = "completed" if conclusion else fields.get("status", check.status)
    _judge(status, conclusion, check.conclusion, fields.get("output"))
    check.status = status
    check.conclusion = (conclusion or check.conclusion) if status == "completed" else None
    check.details_url = fields.get("details_url", check.details_url)
    check.external_id = fields.get("external_id", check.external_id)
    check.output = {**check.output, **fields.get("output", {})}
    check.started_at = _moment(fields.get("started_at")) or check.started_at
    over = _moment(fields.get("completed_at")) or check.completed_at or state.now()
    check.completed_at = over if status == "completed" else None


def _judge(status: object, conclusion: object, earlier: str | None, output: object) -> None:
    if status not in STATUSES:
        raise RefusedError(422, f'Invalid request.\n\n"{status}" is not a member of the known statuses.')
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise RefusedError(422, f'Invalid request.\n\n"{conclusion}" is not a member of the known conclusions.')
    if status == "completed" and not conclusion and not earlier:
        raise RefusedError(422, 'Invalid request.\n\n"conclusion" wasn\'t supplied.')
    if output is None:
        return
    if not isinstance(output, Mapping) or not isinstance(output.get("summary"), str):
        raise RefusedError(422, 'Invalid request.\n\n"summary" wasn\'t supplied.')
    if any(len(str(output.get(field, "")).encode()) > _TEXT_CAP for field in ("summary", "text")):
        raise RefusedError(422, f"Invalid request.\n\nOnly {_TEXT_CAP} characters are allowed.")


def _moment(text: object) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(str(text))
    except ValueError as error:
        raise RefusedError(422, f"Invalid request.\n\n{text!r} is not a valid date-time.") from error


def _event(state: DevGitHub, repository: Repository, check: CheckRun, action: str, person: str = "") -> dict[str, Any]:
    return {
        "action": action,
        "check_run": hooked_check_run(state, repository, check),
        "repository": full_repository(state, repository),
        "sender": user(state, person or f"{check.suite.app.slug}[bot]"),
    }
