"""A whole relay and a whole GitHub, from a pull request to a re-run: every request between them is one that GitHub
describes, and what a person sees on the pull request is what the backends reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import select

from relay.app import create_app
from relay.context import RelayContext
from relay.crcr import missed
from relay.devgithub import (
    DevGitHub,
    MemorySource,
    close_pull,
    label_pull,
    move_run,
    open_pull,
    push,
    rerequest_check_run,
    rerequest_suite,
)
from relay.outbox.leasing import OPEN_STATES
from relay.settings import RelaySettings
from relay.store.crcr_models import OutboxItem
from tests.github.client import BASE, HEAD, NEXT
from tests.github.serving import one_key, serve_devgithub
from tests.relay.serving import serving
from tests.waiting import until

pytestmark = pytest.mark.e2e

UPSTREAM, SHOWN, LABELED = "upstream/torch", "acme/shown", "acme/labeled"
ALLOWLIST = f"L3:\n  npu:\n    {LABELED}: [someone]\nL4:\n  - {SHOWN}\n"
LABEL = "ciflow/crcr/npu"
SECRET = "webhook-secret-for-tests"
_PATIENCE_S = 60.0


@dataclass
class Clock:
    """The machine's clock and a span that a test adds to it: one for the relay and its GitHub, as in the world."""

    ahead: timedelta = field(default_factory=timedelta)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass
class Scene:
    """The two, and the clock of both."""

    url: str
    context: RelayContext
    github: DevGitHub
    clock: Clock

    def sent(self, repo: str) -> list[Any]:
        """What a backend was dispatched, the oldest first."""
        return [each for each in self.github.dispatches if each.repo == repo]

    def report(self, repo: str, status: str, conclusion: str | None = None) -> None:
        """A backend's job of its newest dispatch reports, with a token of its own run, as the public reporter does."""
        dispatch = self.sent(repo)[-1]
        run = self.github.repository(repo).runs[dispatch.run_id]
        workflow = {
            "status": status,
            "conclusion": conclusion,
            "name": "ci",
            "job_name": "test",
            "url": "https://x.test/y",
        }
        workflow |= {"run_id": str(run.id), "run_attempt": str(run.attempt), "check_run_id": f"{run.id}-{run.attempt}"}
        token = self.github.oidc.mint(repo, run_id=run.id, run_attempt=run.attempt)
        answer = httpx.post(
            f"{self.url}/github/callback",
            json={**dispatch.client_payload, "workflow": workflow},
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )
        assert answer.status_code == 200, answer.text
        move_run(self.github, repo, run.id, status, conclusion)

    def checks(self, repo: str) -> list[tuple[str, str | None]]:
        """Status and conclusion of a backend's check runs upstream, the oldest first."""
        found = self.github.repository(UPSTREAM).checks.values()
        return [(each.status, each.conclusion) for each in found if each.name == f"crcr/{repo}/ci/test"]

    def attempt(self, repo: str) -> int:
        """Which attempt the newest dispatch's run is at."""
        return self.github.repository(repo).runs[self.sent(repo)[-1].run_id].attempt

    def wait_for_dispatches(self, count: int) -> None:
        """Until so many were sent in all."""
        until(lambda: len(self.github.dispatches) >= count, self.told, _PATIENCE_S)

    def move_clock(self, span: timedelta) -> None:
        """Once the relay has noted what it sent: else what GitHub took a moment ago would have been on its way for all
        that time, and would be sent again."""
        until(self._nothing_on_its_way, self.told, _PATIENCE_S)
        self.clock.ahead += span

    def _nothing_on_its_way(self) -> bool:
        with self.context.store.reading() as session:
            return session.scalar(select(OutboxItem.id).where(OutboxItem.state.in_(OPEN_STATES)).limit(1)) is None

    def wait_for_checks(self, repo: str, expected: list[tuple[str, str | None]]) -> None:
        """Until the pull request shows this."""
        until(lambda: self.checks(repo) == expected, self.told, _PATIENCE_S)

    def told(self) -> str:
        """What a failing test shows."""
        answers = [f"{each.event} {each.action} {each.response_body}" for each in self.github.hooks.deliveries]
        return "\n".join([*answers, f"{len(self.github.dispatches)} dispatches", *self.github.complaints])


@pytest.fixture
def scene(settings: RelaySettings, tmp_path: Path) -> Iterator[Scene]:
    clock = Clock()
    with ExitStack() as stack:
        github = stack.enter_context(serve_devgithub(DevGitHub(clock, one_key()))).state
        app = github.add_app(private_pem=one_key(), webhook_secret=SECRET)
        for name in (UPSTREAM, SHOWN, LABELED):
            github.add_repository(name, app=app)
        source = github.repository(UPSTREAM).source
        assert isinstance(source, MemorySource)
        source.files[".github/allowlist.yml"] = ALLOWLIST
        changed = {
            "upstream_repo": UPSTREAM,
            "webhook_secret": SecretStr(SECRET),
            "github_app_id": app.id,
            "github_app_private_key": SecretStr(app.private_pem),
            "github_api_url": github.url,
            "github_web_url": github.url,
            "dev_oidc_issuer": github.url,
            "allowlist_url": f"{github.url}/{UPSTREAM}/blob/main/.github/allowlist.yml",
        }
        relay = create_app(settings.model_copy(update=changed), now=clock)
        url = stack.enter_context(serving(relay, whole=True))
        app.webhook_url = f"{url}/github/webhook"
        yield Scene(url, relay.state.relay, github, clock)


def test_from_a_pull_request_to_a_rerun(scene: Scene) -> None:
    """L4 is shown from the start, L3 from its label on; a re-run from the page begins the backend's next attempt."""
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    scene.wait_for_dispatches(2)
    for repo in (SHOWN, LABELED):
        scene.report(repo, "in_progress")
        scene.report(repo, "completed", "failure")
    scene.wait_for_checks(SHOWN, [("completed", "failure")])
    assert scene.checks(LABELED) == []
    label_pull(scene.github, UPSTREAM, 1, LABEL)
    scene.wait_for_checks(LABELED, [("completed", "failure")])
    upstream = scene.github.repository(UPSTREAM)
    shown = next(each for each in upstream.checks.values() if SHOWN in each.name)
    rerequest_check_run(scene.github, UPSTREAM, shown.id)
    until(lambda: scene.attempt(SHOWN) == 2, scene.told, _PATIENCE_S)
    assert scene.attempt(LABELED) == 1
    scene.report(SHOWN, "in_progress")
    scene.report(SHOWN, "completed", "success")
    until(lambda: ("completed", "success") in scene.checks(SHOWN), scene.told, _PATIENCE_S)
    rerequest_suite(scene.github, UPSTREAM, shown.suite.id)
    until(lambda: (scene.attempt(SHOWN), scene.attempt(LABELED)) == (3, 2), scene.told, _PATIENCE_S)
    close_pull(scene.github, UPSTREAM, 1, merged=True)
    scene.wait_for_dispatches(4)


def test_a_push_is_told_to_every_backend(scene: Scene) -> None:
    push(scene.github, UPSTREAM, "refs/heads/main", before=BASE, after=NEXT)
    scene.wait_for_dispatches(2)
    assert {each.repo: each.client_payload["payload"]["after"] for each in scene.github.dispatches} == {
        SHOWN: NEXT,
        LABELED: NEXT,
    }


def a_first_word(scene: Scene) -> None:
    """A push, told to both: a relay that never heard of anything looks for nothing that it missed."""
    push(scene.github, UPSTREAM, "refs/heads/main", before=BASE, after=NEXT)
    scene.wait_for_dispatches(2)


def pull_heads(scene: Scene) -> list[tuple[str, str]]:
    """Who was told of which head, in alphabetical order; twice is twice."""
    told = [each for each in scene.github.dispatches if each.event_type == "pull_request"]
    return sorted((each.repo, each.client_payload["payload"]["pull_request"]["head"]["sha"]) for each in told)


def look_for_gaps(scene: Scene) -> None:
    """Twice, and once more when all of it has been sent: what was made good for is none any longer."""
    scene.move_clock(timedelta(minutes=20))
    for _ in range(2):
        missed.sweep(scene.context)
    scene.wait_for_dispatches(4)
    scene.github.hooks.wait_idle()
    scene.move_clock(timedelta(minutes=20))
    missed.sweep(scene.context)
    # What a push tells after it was told after everything that the look could have led to.
    push(scene.github, UPSTREAM, "refs/heads/main", before=NEXT, after="d" * 40)
    scene.wait_for_dispatches(6)


def test_a_webhook_that_got_lost_is_sent_again(scene: Scene) -> None:
    """The relay finds it among GitHub's deliveries, once it is old enough, and each backend is told once."""
    a_first_word(scene)
    scene.github.hooks.lose_next()
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    look_for_gaps(scene)
    assert pull_heads(scene) == [(LABELED, HEAD), (SHOWN, HEAD)]
    attempts = [each for each in scene.github.hooks.deliveries if each.event == "pull_request"]
    assert [(each.redelivery, each.taken) for each in attempts] == [(False, False), (True, True)]


def test_a_pull_request_nobody_told_of_is_found_by_its_head(scene: Scene) -> None:
    """GitHub never tried to deliver it: the app heard of no pull requests at that time."""
    a_first_word(scene)
    app = next(iter(scene.github.apps.values()))
    events, app.events = app.events, frozenset()
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    app.events = events
    look_for_gaps(scene)
    assert pull_heads(scene) == [(LABELED, HEAD), (SHOWN, HEAD)]
