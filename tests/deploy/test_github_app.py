"""The App's manifest asks for what the relay needs of GitHub, and for nothing else."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from relay.github.app import GitHubApp
from relay.github.types import CheckRun, GitHubError
from relay.intake.comment_wishes import COMMENT_EVENT
from relay.intake.events import SUPPORTED_EVENTS
from relay.web.webhook import router
from tests.deploy.deployed import DEPLOY
from tests.github.serving import one_key, serve_devgithub

MANIFEST: dict[str, Any] = json.loads((DEPLOY / "github" / "app-manifest.json").read_text())
PERMISSIONS: dict[str, str] = MANIFEST["default_permissions"]
REPO, SHA = "acme/private", "a" * 40
CHECK = CheckRun("ci", SHA, "queued", None, "https://relay.example.org/1", "1", "queued", "queued")
#: One use of everything that the relay can ask of GitHub.
CALLS: Mapping[str, Callable[[GitHubApp], object]] = {
    "name": lambda app: app.name(),
    "rights": lambda app: app.rights(),
    "rights_in": lambda app: app.rights_in(REPO),
    "dispatch": lambda app: app.dispatch(REPO, "pull_request", {"version": 1}),
    "create_check_run": lambda app: app.create_check_run(REPO, CHECK),
    "update_check_run": lambda app: app.update_check_run(REPO, 1, CHECK),
    "named_check_runs": lambda app: app.named_check_runs(REPO, SHA, "ci"),
    "suite_check_runs": lambda app: app.suite_check_runs(REPO, 1),
    "rerun_failed_jobs": lambda app: app.rerun_failed_jobs(REPO, 1),
    "rerun": lambda app: app.rerun(REPO, 1),
    "cancel_run": lambda app: app.cancel_run(REPO, 1),
    "workflow_run": lambda app: app.workflow_run(REPO, 1),
    "commit_exists": lambda app: app.commit_exists(REPO, SHA),
    "text": lambda app: app.text(REPO, "allowlist.yml", "main"),
    "open_pulls": lambda app: app.open_pulls(REPO),
    "open_pull_from": lambda app: app.open_pull_from(REPO, "topic"),
    "pull": lambda app: app.pull(REPO, 1),
    "permission": lambda app: app.permission(REPO, "someone"),
    "comments": lambda app: app.comments(REPO, 1),
    "create_comment": lambda app: app.create_comment(REPO, 1, "text"),
    "update_comment": lambda app: app.update_comment(REPO, 1, "text"),
    "hook_deliveries": lambda app: app.hook_deliveries(datetime.now(UTC)),
    "redeliver": lambda app: app.redeliver(1),
    "titles": lambda app: app.titles(REPO, [1], [SHA]),
}


def refused(permissions: Mapping[str, str]) -> set[str]:
    """What an App with these permissions may not, in a repository that not everybody may read. What is asked for need
    not exist: that is another answer."""
    found = set()
    with serve_devgithub(described=False) as github:
        app = github.state.add_app(private_pem=one_key(), permissions=permissions)
        github.state.add_repository(REPO, app=app, private=True)
        client = GitHubApp(app.id, SecretStr(one_key()), api_url=github.url)
        for name, call in CALLS.items():
            try:
                call(client)
            except GitHubError as error:
                found |= {name} if error.status in {401, 403} else set()
        client.close()
    return found


def test_every_call_of_the_relay_is_tried() -> None:
    public = {name for name, _ in inspect.getmembers(GitHubApp, inspect.isfunction) if not name.startswith("_")}
    assert set(CALLS) == public - {"close"}


def test_the_permissions_are_enough() -> None:
    assert refused(PERMISSIONS) == set()


@pytest.mark.parametrize("name", sorted(set(PERMISSIONS) - {"metadata"}))
def test_no_permission_is_more_than_needed(name: str) -> None:
    """Every App reads metadata. Without another one, or with less of it, something is refused."""
    less = "read" if PERMISSIONS[name] == "write" else ""
    assert refused({**PERMISSIONS, name: less} if less else {k: v for k, v in PERMISSIONS.items() if k != name})


def test_the_events_are_those_the_relay_reads() -> None:
    assert set(MANIFEST["default_events"]) == {*SUPPORTED_EVENTS, COMMENT_EVENT}


def test_the_webhook_goes_where_the_relay_takes_it() -> None:
    known = {getattr(route, "path", "") for route in router.routes}
    assert urlsplit(MANIFEST["hook_attributes"]["url"]).path in known


def test_the_runbook_leads_to_it() -> None:
    assert "deploy/github/app-manifest.json" in (DEPLOY / "RUNBOOK.md").read_text()
