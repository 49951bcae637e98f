"""A local GitHub in this process, with a clock that tests move, and somebody who hears its webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

from relay.devgithub import DevGitHub
from tests.relay.serving import serving


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    at: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def tick(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class Ear:
    """A receiver of webhooks: what came, and what it answers."""

    url: str = ""
    status: int = 200
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def hear(self, request: Request) -> Response:
        self.heard.append((dict(request.headers), await request.body()))
        return PlainTextResponse("heard", self.status)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> Iterator[DevGitHub]:
    """A local GitHub that nobody serves."""
    made = DevGitHub(now=clock)
    made.url = "http://127.0.0.1:1"
    yield made
    made.hooks.close()


@pytest.fixture
def ear() -> Iterator[Ear]:
    """Somebody who listens on a real socket."""
    made = Ear()
    application = FastAPI()
    application.add_route("/github/webhook", made.hear, methods=["POST"])
    with serving(application) as url:
        made.url = f"{url}/github/webhook"
        yield made
