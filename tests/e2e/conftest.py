"""A whole service on this machine, at the speed of a test: real web, real Celery worker, real device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from relay.client import FINAL_STATES, ApiClient
from relay.demo.repository import UpstreamChange
from relay.demo.webhook import SignedWebhook, pull_request_opened
from relay.machine.embedded import EmbeddedService
from relay.settings import RelaySettings
from relay.views import RunDetail, TestView
from tests.waiting import until

RUN_ENDS_S = 240.0


@dataclass
class Deployment:
    """A running service, the change it is about, and the verbs a story needs."""

    service: EmbeddedService
    change: UpstreamChange
    client: ApiClient

    def webhook(self, delivery_id: str = "") -> SignedWebhook:
        secret = self.service.settings.webhook_secret
        assert secret is not None
        repo = self.service.settings.upstream_repo
        return pull_request_opened(self.change, repo, secret.get_secret_value(), delivery_id or str(uuid4()))

    def deliver(self, webhook: SignedWebhook) -> httpx.Response:
        return httpx.post(
            f"{self.service.url}/github/webhook", content=webhook.body, headers=webhook.headers, trust_env=False
        )

    def start_run(self) -> int:
        """Deliver a fresh webhook and return the run it led to."""
        newest = max((run.id for run in self.client.runs().runs), default=0)
        assert self.deliver(self.webhook()).status_code == 200
        until(lambda: bool(self.client.runs().runs) and self.client.runs().runs[0].id > newest, seconds=30)
        return self.client.runs().runs[0].id

    def finished(self, run_id: int) -> RunDetail:
        until(lambda: self.client.run(run_id).run.state in FINAL_STATES, lambda: self.story(run_id), RUN_ENDS_S)
        return self.client.run(run_id)

    def tests(self, run_id: int) -> tuple[TestView, ...]:
        return self.client.tests(run_id, limit=500).tests

    def story(self, run_id: int) -> str:
        """What to read when a run does not come to its end: its state and the workers' last lines."""
        logs = [path.read_text()[-4000:] for path in self.service.worker_logs() if path.exists()]
        return "\n".join([self.client.run(run_id).model_dump_json(indent=1), *logs])


@pytest.fixture(scope="session")
def device_cache() -> Path:
    """One compiled device for all services of the session, kept from session to session."""
    return Path("~/.cache/oot-relay-tests/device").expanduser()


Deploy = Callable[..., Deployment]


@contextmanager
def deploying(folder: Path, device_cache: Path) -> Iterator[Deploy]:
    """Start services that are stopped at the end."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as running:
        patch.setenv("RELAY_DEVICE_CACHE", str(device_cache))

        def start(change: UpstreamChange, *, workers: int = 1, **settings: Any) -> Deployment:
            quick = {"lease_seconds": 6.0, "sweep_seconds": 0.3, "state_dir": folder / "state"}
            given = RelaySettings(**{**quick, "upstream_clone_url": str(change.repository), **settings})
            service = running.enter_context(EmbeddedService(given, workers=workers))
            client = running.enter_context(ApiClient(service.url))
            return Deployment(service, change, client)

        yield start


@pytest.fixture
def deploy(tmp_path: Path, device_cache: Path) -> Iterator[Deploy]:
    """Start services that are stopped at the end of the test."""
    with deploying(tmp_path, device_cache) as start:
        yield start
