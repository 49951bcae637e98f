"""Every webhook is as GitHub describes it, is what its published examples have, and says what happened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from relay.devgithub import (
    App,
    Delivery,
    DevGitHub,
    GitSource,
    RefusedError,
    close_pull,
    edit_pull,
    label_pull,
    open_pull,
    push,
    reopen_pull,
    rerequest_check_run,
    rerequest_suite,
    synchronize_pull,
)
from relay.devgithub.checks import create_check_run, update_check_run
from relay.devgithub.dispatches import dispatch
from relay.devgithub.pulls import ZERO_SHA
from relay.intake.events import PullRequestChanged, PullRequestClosed, PushReceived, parse_event
from tests.github.client import BASE, HEAD, NEXT, UPSTREAM
from tests.github.description import event_complaints, load_description
from tests.github.serving import one_key
from tests.relay.devgithub.repositories import commit, git, repository

EVENTS = ("pull_request", "push", "check_run", "check_suite", "repository_dispatch")


@pytest.fixture
def github() -> Iterator[DevGitHub]:
    """Not served: what is sent goes nowhere and is remembered."""
    state = DevGitHub(issuer_pem=one_key())
    state.url = "http://127.0.0.1:8081"
    yield state
    state.hooks.close()


@pytest.fixture
def app(github: DevGitHub) -> App:
    made = github.add_app(
        private_pem=one_key(), webhook_url="http://127.0.0.1:1/", webhook_secret="a-webhook-secret", events=EVENTS
    )
    github.add_repository(UPSTREAM, app=made)
    open_pull(github, UPSTREAM, head=HEAD, base=BASE, title="A change", labels=("first",))
    return made


def body_of(delivery: Delivery) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(delivery.body)
    return body


def last(github: DevGitHub) -> Delivery:
    github.hooks.wait_idle()
    return github.hooks.deliveries[-1]


def check(github: DevGitHub, app: App) -> int:
    fields = {"name": "x", "head_sha": HEAD, "conclusion": "failure"}
    return create_check_run(github, github.repository(UPSTREAM), app, fields).id


def complete(github: DevGitHub, app: App) -> None:
    upstream = github.repository(UPSTREAM)
    made = create_check_run(github, upstream, app, {"name": "x", "head_sha": HEAD})
    github.hooks.wait_idle()
    update_check_run(github, upstream, app, made.id, {"conclusion": "success", "output": {"summary": "s"}})


def press_suite(github: DevGitHub, app: App) -> None:
    check(github, app)
    rerequest_suite(github, UPSTREAM, next(iter(github.repository(UPSTREAM).suites)))


DEEDS: dict[str, Callable[[DevGitHub, App], object]] = {
    "pull_request opened": lambda github, _: open_pull(github, UPSTREAM, head=NEXT, draft=True),
    "pull_request synchronize": lambda github, _: synchronize_pull(github, UPSTREAM, 1, NEXT),
    "pull_request labeled": lambda github, _: label_pull(github, UPSTREAM, 1, "ciflow/crcr/acme"),
    "pull_request unlabeled": lambda github, _: label_pull(github, UPSTREAM, 1, "first", remove=True),
    "pull_request edited": lambda github, _: edit_pull(github, UPSTREAM, 1, "Another title"),
    "pull_request closed": lambda github, _: close_pull(github, UPSTREAM, 1, merged=True),
    "pull_request reopened": lambda github, _: (
        close_pull(github, UPSTREAM, 1),
        reopen_pull(github, UPSTREAM, 1),
    ),
    "push": lambda github, _: push(github, UPSTREAM, "refs/heads/main", before=BASE, after=NEXT),
    "push made": lambda github, _: push(github, UPSTREAM, "refs/tags/ciflow/trunk/1", before=ZERO_SHA, after=HEAD),
    "push deleted": lambda github, _: push(github, UPSTREAM, "refs/tags/ciflow/trunk/1", before=HEAD, after=ZERO_SHA),
    "check_run created": check,
    "check_run completed": complete,
    "check_run rerequested": lambda github, app: rerequest_check_run(github, UPSTREAM, check(github, app)),
    "check_suite rerequested": press_suite,
    "repository_dispatch pull_request": lambda github, app: dispatch(
        github, github.repository(UPSTREAM), app, {"event_type": "pull_request", "client_payload": {"delivery_id": "x"}}
    ),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_is_as_github_describes_it(github: DevGitHub, app: App, deed: str) -> None:
    """The event that the deed is named after comes last, and its body has every described field in its kind."""
    DEEDS[deed](github, app)
    event, _, action = deed.partition(" ")
    github.hooks.wait_idle()
    named = [each for each in github.hooks.deliveries if each.event == event]
    delivery = next(each for each in reversed(named) if event == "push" or each.action == action)
    assert list(event_complaints(load_description(), event, body_of(delivery))) == []
    assert body_of(delivery)["installation"]["id"] == delivery.installation_id


def test_the_description_would_notice() -> None:
    """A field of another kind, an absent one and an event that does not exist are complaints."""
    description = load_description()
    assert list(event_complaints(description, "push", {"ref": 1})) != []
    assert list(event_complaints(description, "pull_request", {"action": "synchronized"})) != []


def test_the_relay_reads_them(github: DevGitHub, app: App) -> None:
    """Through the relay's own parser, which is strict about what it uses."""
    opened = parse_event("pull_request", body_of(last(github)))
    assert isinstance(opened, PullRequestChanged)
    assert (opened.repo, opened.number, opened.head_sha, opened.title) == (UPSTREAM, 1, HEAD, "A change")
    assert opened.labels == ("first",)
    (synchronized,) = synchronize_pull(github, UPSTREAM, 1, NEXT)
    assert (body_of(synchronized)["before"], body_of(synchronized)["after"]) == (HEAD, NEXT)
    (closed,) = close_pull(github, UPSTREAM, 1)
    assert isinstance(parse_event("pull_request", body_of(closed)), PullRequestClosed)
    (pushed,) = push(github, UPSTREAM, "refs/heads/main", before=BASE, after=NEXT)
    received = parse_event("push", body_of(pushed))
    assert isinstance(received, PushReceived)
    assert (received.before, received.after) == (BASE, NEXT)


def test_a_label_is_put_on_once(github: DevGitHub, app: App) -> None:
    assert label_pull(github, UPSTREAM, 1, "first") == []
    assert label_pull(github, UPSTREAM, 1, "absent", remove=True) == []
    (labeled,) = label_pull(github, UPSTREAM, 1, "second")
    assert body_of(labeled)["label"]["name"] == "second"
    assert [each["name"] for each in body_of(labeled)["pull_request"]["labels"]] == ["first", "second"]


def test_a_merge_is_told_as_one(github: DevGitHub, app: App) -> None:
    (merged,) = close_pull(github, UPSTREAM, 1, merged=True)
    pull = body_of(merged)["pull_request"]
    assert (pull["state"], pull["merged"], pull["merge_commit_sha"]) == ("closed", True, HEAD)
    with pytest.raises(RefusedError, match="closed"):
        close_pull(github, UPSTREAM, 1)
    with pytest.raises(RefusedError, match="reopened"):
        reopen_pull(github, UPSTREAM, 1)


def test_pushed_commits_come_from_the_clone(github: DevGitHub, app: App, tmp_path: Path) -> None:
    """The oldest first, the head commit last; a tag that is made has its commit."""
    folder = repository(tmp_path / "clone")
    base, first, second = (commit(folder, message) for message in ("Base", "First", "Second\n\nBody"))
    github.repository(UPSTREAM).source = GitSource(folder)
    (moved,) = push(github, UPSTREAM, "refs/heads/main", before=base, after="main")
    assert [each["id"] for each in body_of(moved)["commits"]] == [first, second]
    assert body_of(moved)["head_commit"]["message"] == "Second\n\nBody"
    assert body_of(moved)["after"] == git(folder, "rev-parse", "main")
    (made,) = push(github, UPSTREAM, "refs/tags/v1", before=ZERO_SHA, after=second)
    assert (body_of(made)["created"], body_of(made)["head_commit"]["id"]) == (True, second)
    (deleted,) = push(github, UPSTREAM, "refs/tags/v1", before=second, after=ZERO_SHA)
    assert (body_of(deleted)["deleted"], body_of(deleted)["head_commit"]) == (True, None)


def test_a_revision_that_names_no_commit_is_refused(github: DevGitHub, app: App, tmp_path: Path) -> None:
    folder = repository(tmp_path / "clone")
    commit(folder, "Base")
    github.repository(UPSTREAM).source = GitSource(folder)
    before = len(github.hooks.deliveries)
    for act in (
        lambda: open_pull(github, UPSTREAM, head="nope"),
        lambda: synchronize_pull(github, UPSTREAM, 1, "nope"),
        lambda: push(github, UPSTREAM, "refs/heads/main", before=BASE, after="nope"),
    ):
        with pytest.raises(RefusedError, match="No commit found"):
            act()
    assert len(github.hooks.deliveries) == before
    with pytest.raises(RefusedError, match="Not Found"):
        label_pull(github, UPSTREAM, 99, "x")
