"""GitHub's JSON becomes exactly one of our events, and never an exception."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from relay.intake.events import (
    BODY_CAP,
    TITLE_CAP,
    Ignored,
    PullRequestChanged,
    PullRequestClosed,
    PushReceived,
    names_repository,
    parse_event,
)

PAYLOAD = Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json"
ZERO = "0" * 40
OLD, NEW = "a" * 40, "b" * 40
#: Of the payload.
MOVED = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


@pytest.fixture
def pull() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(PAYLOAD.read_text("utf-8"))
    return loaded


@pytest.fixture
def push() -> dict[str, Any]:
    return {
        "ref": "refs/heads/main",
        "before": OLD,
        "after": NEW,
        "head_commit": {"message": "Fold two loops\n\nLonger text"},
        "repository": {"full_name": "pytorch/pytorch-like", "default_branch": "main"},
    }


def changed(payload: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of the payload with one field replaced, or removed where `value` is `...`."""
    result = copy.deepcopy(payload)
    *parents, last = path.split(".")
    target = result
    for key in parents:
        target = target[key]
    if value is ...:
        del target[last]
    else:
        target[last] = value
    return result


@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize"])
def test_a_new_head_is_a_change(pull: dict[str, Any], action: str) -> None:
    event = parse_event("pull_request", changed(pull, "action", action))
    assert event == PullRequestChanged(
        repo="pytorch/pytorch-like",
        number=7,
        base_ref="main",
        base_sha="2" * 40,
        head_sha="1" * 40,
        title=pull["pull_request"]["title"],
        body=pull["pull_request"]["body"],
        author="upstream-author",
        moved_at=MOVED,
        labels=tuple(label["name"] for label in pull["pull_request"]["labels"]),
    )


@pytest.mark.parametrize(("told", "merged"), [(True, True), (False, False), (None, False), ("yes", False)])
def test_only_a_pull_request_that_says_so_was_merged(pull: dict[str, Any], told: object, merged: bool) -> None:
    closed = changed(changed(pull, "action", "closed"), "pull_request.merged", told)
    assert parse_event("pull_request", closed) == PullRequestClosed("pytorch/pytorch-like", 7, merged, MOVED)


def test_closed_needs_no_shas(pull: dict[str, Any]) -> None:
    closed = changed(changed(pull, "action", "closed"), "pull_request", None)
    assert parse_event("pull_request", closed) == PullRequestClosed("pytorch/pytorch-like", 7)


@pytest.mark.parametrize("action", ["labeled", "edited", "assigned", "synchronized"])
def test_other_actions_are_ignored_by_name(pull: dict[str, Any], action: str) -> None:
    event = parse_event("pull_request", changed(pull, "action", action))
    assert isinstance(event, Ignored)
    assert action in event.reason


@pytest.mark.parametrize("label", ["full", "FULL"])
def test_a_label_that_asks_for_every_test_is_a_change(pull: dict[str, Any], label: str) -> None:
    """GitHub's labels are equal when only letter case differs."""
    labelled = changed(changed(pull, "action", "labeled"), "label", {"name": label})
    event = parse_event("pull_request", labelled, {"full"})
    assert isinstance(event, PullRequestChanged)
    assert event.label == label


@pytest.mark.parametrize("label", [{"name": "module: nn"}, {"name": 3}, None, "full", {}])
def test_another_label_changes_nothing(pull: dict[str, Any], label: object) -> None:
    labelled = changed(changed(pull, "action", "labeled"), "label", label)
    assert isinstance(parse_event("pull_request", labelled, {"full"}), Ignored)


@pytest.mark.parametrize("labels", [None, "full", [3, None, {"name": None}, {}], {"name": "full"}])
def test_odd_labels_name_none(pull: dict[str, Any], labels: object) -> None:
    event = parse_event("pull_request", changed(pull, "pull_request.labels", labels))
    assert isinstance(event, PullRequestChanged)
    assert event.labels == ()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("pull_request", None),
        ("pull_request.head", []),
        ("pull_request.head.sha", "1" * 39),
        ("pull_request.head.sha", "G" * 40),
        ("pull_request.head.sha", "1" * 40 + "\n"),
        ("pull_request.base.sha", "A" * 40),
        ("pull_request.base.sha", ...),
        ("pull_request.title", 5),
        ("number", "7"),
        ("number", True),
        ("number", 0),
        ("number", 2**31),
        ("repository.full_name", None),
        ("action", None),
    ],
)
def test_a_field_in_use_that_is_wrong_is_named(pull: dict[str, Any], path: str, value: object) -> None:
    event = parse_event("pull_request", changed(pull, path, value))
    assert isinstance(event, Ignored)
    assert event.reason.startswith("malformed pull_request payload: ")
    assert path.rsplit(".", 1)[-1] in event.reason


def test_unused_fields_may_be_anything(pull: dict[str, Any]) -> None:
    odd = changed(changed(pull, "pull_request.labels", None), "pull_request.user", {"login": 3})
    assert isinstance(parse_event("pull_request", odd), PullRequestChanged)


def test_null_body_and_title_are_empty(pull: dict[str, Any]) -> None:
    event = parse_event("pull_request", changed(changed(pull, "pull_request.body", None), "pull_request.title", None))
    assert isinstance(event, PullRequestChanged)
    assert (event.title, event.body) == ("", "")


def test_untrusted_text_is_capped_and_storable(pull: dict[str, Any]) -> None:
    long = changed(changed(pull, "pull_request.title", "a\x00\ud800" + "x" * 5_000), "pull_request.body", "y" * 90_000)
    event = parse_event("pull_request", long)
    assert isinstance(event, PullRequestChanged)
    assert event.title.startswith("a\ufffd\ufffdx")
    assert len(event.title) == TITLE_CAP
    assert len(event.body) == BODY_CAP
    event.title.encode()


def test_a_push_to_the_default_branch_is_received(push: dict[str, Any]) -> None:
    assert parse_event("push", push) == PushReceived(
        "pytorch/pytorch-like", "refs/heads/main", OLD, NEW, "Fold two loops"
    )


@pytest.mark.parametrize("ref", ["refs/heads/gh/1/base", "refs/tags/main", "refs/tags/ciflow/trunk/7", "main"])
def test_a_push_elsewhere_is_ignored_with_its_ref(push: dict[str, Any], ref: str) -> None:
    event = parse_event("push", changed(push, "ref", ref))
    assert isinstance(event, Ignored)
    assert ref in event.reason


@pytest.mark.parametrize(("side", "word"), [("before", "created"), ("after", "deleted")])
def test_a_push_without_two_ends_is_ignored(push: dict[str, Any], side: str, word: str) -> None:
    event = parse_event("push", changed(push, side, ZERO))
    assert isinstance(event, Ignored)
    assert word in event.reason


@pytest.mark.parametrize("commit", [None, {}, {"message": ""}, {"message": None}, "text"])
def test_a_push_without_a_message_has_no_title(push: dict[str, Any], commit: object) -> None:
    event = parse_event("push", changed(push, "head_commit", commit))
    assert isinstance(event, PushReceived)
    assert event.title == ""


@pytest.mark.parametrize("name", ["check_run", "check_suite", "ping", "x" * 9_000])
def test_events_without_a_handler_are_ignored(name: str) -> None:
    event = parse_event(name, {})
    assert isinstance(event, Ignored)
    assert len(event.reason) < 600


@pytest.mark.parametrize(
    ("repository", "same"),
    [
        ({"full_name": "pytorch/pytorch"}, True),
        ({"full_name": "PyTorch/PyTorch"}, True),
        ({"full_name": "someone/pytorch"}, False),
        ({"full_name": None}, False),
        (None, False),
        ([], False),
    ],
)
def test_a_repository_is_known_by_its_name_whatever_its_case(repository: object, same: bool) -> None:
    assert names_repository({"repository": repository}, "pytorch/pytorch") is same
