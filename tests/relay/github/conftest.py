"""A local GitHub with an upstream and two backends, an App on them, and the client under test; all traffic is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from pydantic import SecretStr

from relay.devgithub import App, Commit, DevGitHub, MemorySource
from relay.devgithub.keys import new_private_pem
from relay.devgithub.records import Asked
from relay.github.app import GitHubApp
from tests.github.serving import ServedGitHub, serve_devgithub

UPSTREAM, BACKEND, OTHER = "upstream/torch", "acme/backend", "acme/other"
HEAD, BASE = "a" * 40, "b" * 40


@dataclass
class Clock:
    """A clock that moves when told to."""

    at: datetime = field(default_factory=lambda: datetime(2026, 11, 2, 9, 30, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def tick(self, **span: float) -> None:
        """Let time pass."""
        self.at += timedelta(**span)


@dataclass
class Scene:
    """GitHub, the App as GitHub knows it, and every request that came in."""

    served: ServedGitHub
    app: App
    clock: Clock
    asked: list[Asked] = field(default_factory=list)
    clients: list[GitHubApp] = field(default_factory=list)

    @property
    def state(self) -> DevGitHub:
        """What GitHub remembers."""
        return self.served.state

    @property
    def source(self) -> MemorySource:
        """What the upstream repository holds."""
        source = self.state.repository(UPSTREAM).source
        assert isinstance(source, MemorySource)
        return source

    def client(self, *, fast_s: float = 0, timeout_s: float = 20.0) -> GitHubApp:
        """A client, whose clock may be fast."""
        made = GitHubApp(
            self.app.id,
            SecretStr(self.app.private_pem),
            api_url=self.served.url,
            timeout_s=timeout_s,
            now=lambda: self.clock() + timedelta(seconds=fast_s),
        )
        self.clients.append(made)
        return made

    def requests(self) -> list[str]:
        """Method and path of what came in, in order."""
        return [f"{one.method} {one.target.partition('?')[0]}" for one in self.asked]

    def steps(self) -> list[str]:
        """The last word of each path."""
        return [request.rpartition("/")[2] for request in self.requests()]


#: Made once: making a key takes longer than a test.
_pem = cache(new_private_pem)


def new_scene(served: ServedGitHub, clock: Clock) -> Scene:
    """Repositories, App, and the ear on the traffic."""
    scene = Scene(served, served.state.add_app(private_pem=_pem()), clock)
    for name in (UPSTREAM, BACKEND, OTHER):
        served.state.add_repository(name, app=scene.app)
    for sha in (HEAD, BASE):
        scene.source.add(Commit(sha, message=f"Change {sha[0]}\n\nand why"))

    def hear(asked: Asked) -> tuple[str, ...]:
        scene.asked.append(asked)
        return ()

    served.state.inspectors.append(hear)
    return scene


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Held to GitHub's own description: a request that is wrong fails the test at its end."""
    clock = Clock()
    with serve_devgithub(DevGitHub(clock, _pem())) as served:
        scene = new_scene(served, clock)
        yield scene
        for client in scene.clients:
            client.close()
