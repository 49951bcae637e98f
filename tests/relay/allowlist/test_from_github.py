"""The allowlist from a whole GitHub: we ask as GitHub describes, and its faults leave the list in force."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from relay.allowlist.fetching import TextSource
from relay.allowlist.kept_text import RETRY_S
from relay.allowlist.source import RemoteAllowlist
from relay.allowlist.types import AllowlistUnavailableError
from relay.devgithub import MemorySource
from relay.devgithub.faults import Fault
from relay.devgithub.records import Answered, Asked
from relay.github.app import GitHubApp
from relay.store.engine import Store, open_engine, upgrade_database
from tests.github.serving import ServedGitHub, one_key, serve_devgithub
from tests.relay.allowlist.origin import Clock

REPO, PATH = "up/stream", ".github/allow list.yml"


@dataclass
class Upstream:
    """The list's repository, whose App is ours, and a source that reads the list there, as the App or as nobody."""

    served: ServedGitHub
    files: MemorySource
    source: RemoteAllowlist
    clock: Clock
    app: GitHubApp | None

    def watched(self) -> list[int]:
        """The statuses of the answers about the file, from now on."""
        statuses: list[int] = []

        def watch(asked: Asked, answered: Answered) -> Iterable[str]:
            statuses.extend([answered.status] * ("/contents/" in asked.target))
            return ()

        self.served.state.answer_inspectors.append(watch)
        return statuses

    def repos(self) -> list[str]:
        """Who takes part."""
        return [backend.repo for backend in self.source.current().allowlist.backends]


@pytest.fixture(params=["as our App", "as nobody"])
def upstream(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Upstream]:
    with serve_devgithub() as served:
        app = served.state.add_app(private_pem=one_key())
        files = MemorySource(files={PATH: "L1: [a/b]\n"})
        served.state.add_repository(REPO, source=files, app=app)
        ours = GitHubApp(app.id, SecretStr(one_key()), api_url=served.url) if request.param == "as our App" else None
        engine = open_engine(f"sqlite:///{tmp_path / 'relay.db'}")
        upgrade_database(engine)
        fetch = TextSource(web_url=served.url, api_url=served.url, github=ours).fetch
        clock = Clock(datetime.now(UTC))
        page = f"{served.url}/{REPO}/blob/main/.github/allow%20list.yml"
        source = RemoteAllowlist(page, store=Store(engine), fetch=fetch, now=clock, web_url=served.url)
        yield Upstream(served, files, source, clock, ours)
        if ours is not None:
            ours.close()
        engine.dispose()


def test_a_change_comes_through_and_nothing_is_sent_twice(upstream: Upstream) -> None:
    """A push that touches the file is followed by the new list; an unchanged file is not sent again."""
    statuses = upstream.watched()
    assert upstream.repos() == ["a/b"]
    upstream.clock.tick(900)
    assert upstream.repos() == ["a/b"]
    assert statuses == [200, 304]
    upstream.files.files[PATH] = "L1: [a/b, c/d]\n"
    assert upstream.source.names_path([PATH], REPO, "refs/heads/main")
    assert upstream.source.refresh().problem == ""
    assert upstream.repos() == ["a/b", "c/d"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(path="*/contents/*", status=500),
        Fault(path="*/contents/*", status=502, times=2),
        Fault(path="*/contents/*", drop=True),
        Fault(path="*/contents/*", status=403, headers={"retry-after": "90"}),
        Fault(
            path="*/contents/*",
            status=403,
            headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 120)},
        ),
    ],
    ids=["500", "502 twice", "dropped", "told to wait", "out of requests"],
)
def test_faults_leave_the_list_in_force(upstream: Upstream, fault: Fault) -> None:
    """Told as the problem; the next answer that is one ends it."""
    assert upstream.repos() == ["a/b"]
    upstream.files.files[PATH] = "L1: [c/d]\n"
    upstream.served.state.faults.add(Fault(**vars(fault)))
    upstream.clock.tick(900)
    assert upstream.repos() == ["a/b"]
    assert "cannot be fetched" in upstream.source.current().problem
    for _ in range(6):
        upstream.clock.tick(RETRY_S)
        upstream.source.tend()
    assert upstream.repos() == ["c/d"]
    assert upstream.source.current().problem == ""
    assert upstream.served.state.faults.left == 0


def test_a_file_that_is_gone_leaves_the_list_in_force(upstream: Upstream) -> None:
    """A rename must not drop every backend at once."""
    assert upstream.repos() == ["a/b"]
    del upstream.files.files[PATH]
    assert "404" in upstream.source.refresh().problem
    assert upstream.repos() == ["a/b"]


def test_a_private_list_is_for_our_app(upstream: Upstream) -> None:
    """Nobody else may read it, and is told so."""
    upstream.served.state.repository(REPO).private = True
    if upstream.app is not None:
        assert upstream.repos() == ["a/b"]
        return
    with pytest.raises(AllowlistUnavailableError, match="404"):
        upstream.repos()


def test_a_public_list_need_not_be_in_a_repository_of_our_app(upstream: Upstream) -> None:
    """Then it is read as anybody may read it."""
    for app in upstream.served.state.apps.values():
        upstream.served.state.uninstall(app, REPO)
    assert upstream.repos() == ["a/b"]
