"""A local GitHub with an upstream and a backend, one app on both, and a plain client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay.devgithub import App
from tests.github.client import BACKEND, UPSTREAM, GitHubClient
from tests.github.serving import ServedGitHub, one_key, serve_devgithub


@pytest.fixture
def served() -> Iterator[ServedGitHub]:
    """Held to GitHub's description: a test that sends something else fails at its end."""
    with serve_devgithub() as github:
        yield github


@pytest.fixture
def app(served: ServedGitHub) -> App:
    """On both repositories; it hears of nothing until a test gives it an address."""
    made = served.state.add_app(private_pem=one_key())
    for name in (UPSTREAM, BACKEND):
        served.state.add_repository(name, app=made)
    return made


@pytest.fixture
def client(served: ServedGitHub, app: App) -> Iterator[GitHubClient]:
    """A client that acts as the app."""
    made = GitHubClient(served, app)
    yield made
    made.close()
