"""A whole relay and a whole GitHub: somebody comments on a pull request, the relay acts and answers in one comment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from relay.app import create_app
from relay.context import RelayContext
from relay.crcr import missed
from relay.devgithub import App, DevGitHub, MemorySource, open_pull, say, synchronize_pull
from relay.devgithub.comments import delete
from relay.devgithub.records import Comment, Delivery
from relay.settings import RelaySettings
from relay.store.models import Delivery as Taken
from relay.store.models import Run
from relay.views import RunState
from tests.github.client import BASE, HEAD, NEXT
from tests.github.serving import one_key, serve_devgithub
from tests.relay.serving import serving
from tests.waiting import until

pytestmark = pytest.mark.e2e

UPSTREAM, BACKEND = "upstream/torch", "acme/backend"
SECRET = "webhook-secret-for-tests"
_PATIENCE_S = 60.0


@dataclass
class Clock:
    """The machine's clock and a span that a test adds to it."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass
class Scene:
    """The two, and what a reader of the pull request sees."""

    github: DevGitHub
    app: App
    settings: RelaySettings
    clock: Clock
    context: RelayContext

    def ours(self, repo: str = UPSTREAM) -> list[Comment]:
        return [each for each in self.github.repository(repo).comments.values() if each.app is not None]

    def say(self, text: str, *, by: str = "maintainer", repo: str = UPSTREAM) -> list[Delivery]:
        return say(self.github, repo, 1, text, author=by)[1]

    def wait_for(self, words: str, repo: str = UPSTREAM) -> str:
        """Until our one comment has these in its newest answer."""

        def there() -> bool:
            return any(words in each.body.partition("<details>")[0] for each in self.ours(repo))

        until(there, lambda: "\n".join(each.body for each in self.ours(repo)), _PATIENCE_S)
        (only,) = self.ours(repo)
        return only.body

    def runs(self) -> list[Run]:
        with self.context.store.reading() as session:
            return list(session.scalars(select(Run).order_by(Run.id)))

    def notes(self) -> list[str]:
        """What became of the comments that GitHub told of, oldest first."""
        with self.context.store.reading() as session:
            wanted = select(Taken.note).where(Taken.event == "issue_comment").order_by(Taken.id)
            return list(session.scalars(wanted))


@pytest.fixture
def scene(settings: RelaySettings) -> Iterator[Scene]:
    clock = Clock()
    with ExitStack() as stack:
        github = stack.enter_context(serve_devgithub(DevGitHub(clock, one_key()))).state
        app = github.add_app(private_pem=one_key(), webhook_secret=SECRET)
        for name in (UPSTREAM, BACKEND):
            github.add_repository(name, app=app)
        source = github.repository(UPSTREAM).source
        assert isinstance(source, MemorySource)
        source.files[".github/allowlist.yml"] = ""
        changed = {
            "upstream_repo": UPSTREAM,
            "webhook_secret": SecretStr(SECRET),
            "github_app_id": app.id,
            "github_app_private_key": SecretStr(app.private_pem),
            "github_api_url": github.url,
            "github_web_url": github.url,
            "allowlist_url": f"{github.url}/{UPSTREAM}/blob/main/.github/allowlist.yml",
            "comment_commands": f"upstream,{BACKEND}",
        }
        told = settings.model_copy(update=changed)
        context = stack.enter_context(served(app, told, clock))
        yield Scene(github, app, told, clock, context)


@contextmanager
def served(app: App, settings: RelaySettings, clock: Clock) -> Iterator[RelayContext]:
    """A relay that GitHub reaches, until the end of the block."""
    relay = create_app(settings, now=clock)
    with serving(relay, whole=True) as url:
        app.webhook_url = f"{url}/github/webhook"
        yield relay.state.relay


def test_somebody_who_may_cancels_and_tests_again(scene: Scene) -> None:
    """Each answer is in the one comment, and the comments of our own that GitHub tells of are not answered."""
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    until(lambda: len(scene.runs()) == 1, seconds=_PATIENCE_S)
    scene.say("Thanks!\n\n/relay cancel\n\n> /relay test\n")
    assert "is cancelled." in scene.wait_for("/relay cancel")
    scene.say("/relay test")
    scene.wait_for("tests the change of")
    assert [run.state for run in scene.runs()] == [RunState.CANCELLED, RunState.RECEIVED]
    scene.say("/relay test all", by="contributor")
    body = scene.wait_for("may not")
    assert "2 earlier answers" in body
    assert len(scene.runs()) == 2
    # Three of people; of ours one that was written, and twice that it was edited.
    until(lambda: len([note for note in scene.notes() if note]) == 6, lambda: str(scene.notes()), _PATIENCE_S)
    assert sum("no person's" in note for note in scene.notes()) == 1
    assert scene.runs()[0].headline == "Cancelled by maintainer in a comment."


def test_another_process_goes_on_with_the_same_comment(scene: Scene) -> None:
    """And when somebody took it away, there is a new one."""
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    scene.say("/relay help")
    scene.wait_for("These are the commands")
    with served(scene.app, scene.settings, scene.clock):
        scene.say("/relay approve")
        scene.wait_for("There is no such command")
        delete(scene.github, scene.github.repository(UPSTREAM), scene.ours()[0].id)
        scene.say("/relay wyh")
        scene.wait_for("`/relay why TEST`")


def test_a_backends_pull_request_steers_upstreams(scene: Scene) -> None:
    """Permission is that of the backend's own repository."""
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    open_pull(scene.github, BACKEND, head=HEAD, base=BASE)
    until(lambda: len(scene.runs()) == 1, seconds=_PATIENCE_S)
    scene.say(f"/relay cancel {UPSTREAM}#1", repo=BACKEND)
    scene.wait_for("is cancelled.", BACKEND)
    assert scene.ours() == []
    assert scene.runs()[0].state is RunState.CANCELLED


def test_a_head_that_nobody_told_of_is_tested_on_request(scene: Scene) -> None:
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    until(lambda: len(scene.runs()) == 1, seconds=_PATIENCE_S)
    scene.github.hooks.lose_next()
    synchronize_pull(scene.github, UPSTREAM, 1, NEXT)
    scene.say("/relay test")
    scene.wait_for(f"tests `{NEXT[:12]}`")
    assert [(run.head_sha, run.state) for run in scene.runs()] == [
        (HEAD, RunState.CANCELLED),
        (NEXT, RunState.RECEIVED),
    ]


def test_a_comment_that_got_lost_is_sent_again(scene: Scene) -> None:
    open_pull(scene.github, UPSTREAM, head=HEAD, base=BASE)
    scene.github.hooks.lose_next()
    scene.say("/relay cancel")
    scene.clock.ahead += timedelta(minutes=20)
    missed.sweep(scene.context)
    scene.wait_for("is cancelled.")
