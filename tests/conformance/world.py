"""A whole relay for one row: the real application and record, a clock that stands still, all outside observed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2 as httpx
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from relay.context import RelayContext
from relay.intake.signature import sign
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.hud_stand_in import Hud
from tests.conformance.payloads import DELIVERY
from tests.conformance.tokens import Tokens

WEBHOOK_SECRET = "webhook-secret-for-tests"


@dataclass
class Clock:
    """The relay's time, in UTC. It moves only when a test says so."""

    at: datetime = field(default_factory=lambda: datetime(2026, 11, 2, 9, 30, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def seconds(self) -> float:
        """The same as a growing number."""
        return self.at.timestamp()

    def tick(self, seconds: float) -> datetime:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)
        return self.at


@dataclass
class World:
    """`strict`: the relay reproduces the original's answers. `github`, `hud` and `allowlist` are what is outside."""

    context: RelayContext
    client: TestClient
    clock: Clock
    github: GitHubStandIn
    hud: Hud
    allowlist: AllowlistStandIn
    tokens: Tokens
    strict: bool

    def webhook(
        self,
        event: str,
        payload: Mapping[str, Any] | bytes,
        *,
        delivery: str | None = DELIVERY,
        headers: Mapping[str, str | None] | None = None,
        path: str = "/github/webhook",
    ) -> httpx.Response:
        """Deliver a signed webhook. `headers` change or (None) remove what GitHub sends."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        given: dict[str, str | None] = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery,
            "X-Hub-Signature-256": sign(WEBHOOK_SECRET, body),
        }
        given |= headers or {}
        return self.client.post(
            path, content=body, headers={name: value for name, value in given.items() if value is not None}
        )

    def callback(
        self,
        body: object,
        *,
        repo: str = "a/l2",
        token: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        path: str = "/github/callback",
    ) -> httpx.Response:
        """Post a callback as `repo`, or with a token of one's own ("": no `Authorization`). Bytes go as they are."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        bearer = self.token(repo) if token is None else token
        given: dict[str, str | None] = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {bearer}" if bearer else None,
        }
        given |= headers or {}
        return self.client.post(
            path, content=content, headers={name: value for name, value in given.items() if value is not None}
        )

    def token(self, repo: str = "a/l2", **claims: object) -> str:
        """A token of GitHub Actions that speaks for a repository; claims that are None are left out."""
        return self.tokens.github(repo, self.clock(), **claims)

    def drain(self) -> None:
        """Let the outbox deliver everything that is due now."""
        outbox = self.context.outbox
        assert outbox is not None
        outbox.deliver_due()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The record, to look at."""
        with self.context.store.reading() as session:
            yield session
