"""The demo's webhook has the fields of a real one, judged by the public examples on npm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from relay.intake.events import PullRequestChanged, parse_event

PAYLOAD = Path(__file__).parents[2] / "relay/demo/payloads/pull_request.opened.json"
PACKAGE = "@octokit/webhooks-examples"


def field_kinds(value: Any, path: str = "") -> dict[str, set[str]]:
    """Every field path of a JSON value, list items merged, with the kinds of value seen there."""
    found: dict[str, set[str]] = {}
    if isinstance(value, dict):
        steps = [(f"{path}.{key}" if path else key, item) for key, item in value.items()]
    elif isinstance(value, list):
        steps = [(f"{path}[]", item) for item in value]
    else:
        steps = []
    for step, item in steps:
        found.setdefault(step, set()).add(type(item).__name__)
        merge(found, field_kinds(item, step))
    return found


def merge(into: dict[str, set[str]], more: dict[str, set[str]]) -> None:
    for path, kinds in more.items():
        into.setdefault(path, set()).update(kinds)


def merged_kinds(examples: list[Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for example in examples:
        merge(found, field_kinds(example))
    return found


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The published `pull_request` examples. CI must have npm; elsewhere a machine without it skips."""
    npm = shutil.which("npm")
    if npm is None:
        if os.environ.get("CI"):
            pytest.fail("npm is not installed, and CI has to compare the demo payload with GitHub's: install npm")
        pytest.skip(f"npm is not installed; it fetches {PACKAGE} to compare with")
    folder = tmp_path_factory.mktemp("npm")
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]
    subprocess.run(command, check=True, timeout=120)
    index = json.loads((folder / "node_modules" / PACKAGE / "api.github.com/index.json").read_text("utf-8"))
    found: list[Any] = next(event["examples"] for event in index if event["name"] == "pull_request")
    assert len(found) > 10
    return found


@pytest.fixture
def payload() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(PAYLOAD.read_text("utf-8"))
    return loaded


def test_has_every_field_of_the_published_opened_examples(payload: dict[str, Any], examples: list[Any]) -> None:
    opened = [example for example in examples if example["action"] == "opened"]
    assert opened
    assert merged_kinds(opened).keys() - field_kinds(payload).keys() == set()


def test_has_no_field_and_no_type_that_github_does_not_send(payload: dict[str, Any], examples: list[Any]) -> None:
    known = merged_kinds(examples)
    invented = {path: kinds for path, kinds in field_kinds(payload).items() if not kinds <= known.get(path, set())}
    # Null in every published example; GitHub's reference documents it as a string.
    repositories = ("repository", "pull_request.head.repo", "pull_request.base.repo")
    documented = {f"{repo}.description": {"str"} for repo in repositories}
    assert {path: kinds for path, kinds in invented.items() if documented.get(path) != kinds} == {}


def test_parses_to_a_changed_pull_request(payload: dict[str, Any]) -> None:
    event = parse_event("pull_request", payload)
    assert isinstance(event, PullRequestChanged)
    assert event.number == payload["number"]
    assert event.head_sha != event.base_sha
