"""The embedded service answers, keeps its workers, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import sys
from pathlib import Path

import httpx
import pytest

from relay.client import ApiClient, Unreachable
from relay.errors import SettingsError
from relay.intake.signature import sign
from relay.machine import worker_processes
from relay.machine.embedded import EmbeddedService
from relay.machine.listening import NotStarted
from relay.machine.state_folder import AlreadyRunning, announced_url
from relay.settings import RelaySettings
from relay.views import RunState
from tests.conformance.payloads import pull_request
from tests.waiting import until

SLEEPER = (sys.executable, "-c", "import time; time.sleep(600)")


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def deliver(service: EmbeddedService, delivery: str) -> None:
    """A webhook of a pull request of its own."""
    secret = service.settings.webhook_secret
    assert secret is not None
    number = len(delivery)
    body = json.dumps(pull_request(number=number, sha=hashlib.sha1(delivery.encode()).hexdigest())).encode()  # noqa: S324  # a commit's name
    headers = {
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": sign(secret.get_secret_value(), body),
    }
    httpx.post(f"{service.url}/github/webhook", content=body, headers=headers, timeout=30).raise_for_status()


def background_pids() -> tuple[int, ...]:
    """Backgrounds that this process started."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return tuple(pid for pid in pids if b"\0background\0" in Path(f"/proc/{pid}/cmdline").read_bytes())


@pytest.fixture
def _sleeping_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real child processes that do nothing in place of Celery workers."""
    monkeypatch.setattr(worker_processes, "COMMAND", SLEEPER)


def test_service_answers_and_is_announced(settings: RelaySettings) -> None:
    """A free port, the real application behind it, its address in the state folder; all gone at the end."""
    with EmbeddedService(settings, workers=0) as service, ApiClient(service.url) as client:
        assert client.health().status == "ok"
        assert client.runs(state=RunState.RUNNING).runs == ()
        assert announced_url(settings.state_dir) == service.url
        assert service.settings.public_url == service.url
        assert service.worker_pids() == ()
    assert announced_url(settings.state_dir) is None
    with ApiClient(service.url) as client, pytest.raises(Unreachable):
        client.health()


def test_public_url_that_was_given_is_kept(settings: RelaySettings) -> None:
    """Links in pages lead where the operator says."""
    given = RelaySettings(**{**settings.model_dump(), "public_url": "https://relay.example"})
    with EmbeddedService(given, workers=0) as service:
        assert service.settings.public_url == "https://relay.example"


@pytest.mark.usefixtures("_sleeping_workers")
def test_workers_are_restarted_and_end_with_the_service(settings: RelaySettings) -> None:
    """A killed worker comes back; none outlives the service."""
    with EmbeddedService(settings, workers=2) as service:
        first = service.worker_pids()
        assert len(set(first)) == 2
        os.kill(first[0], signal.SIGKILL)
        until(lambda: len(service.worker_pids()) == 2 and service.worker_pids() != first, "a new worker")
        last = service.worker_pids()
        assert all(log.exists() for log in service.worker_logs())
    assert service.worker_pids() == ()
    until(lambda: all(gone(pid) for pid in (*first, *last)), "all workers are gone")


def test_deliveries_are_decided_about_by_the_background(settings: RelaySettings) -> None:
    """As soon as they come, also by one that was started again: nothing here waits for a sweep."""
    patient = settings.model_copy(update={"sweep_seconds": 3600.0})
    with EmbeddedService(patient, workers=0) as service, ApiClient(service.url) as client:
        deliver(service, "one")
        until(lambda: len(client.runs().runs) == 1, "a run")
        for child in background_pids():
            os.kill(child, signal.SIGKILL)
        deliver(service, "two")
        until(lambda: len(client.runs().runs) == 2, "a second run")
    assert background_pids() == ()


@pytest.mark.embedded("about the folder of wake-ups")
@pytest.mark.usefixtures("_sleeping_workers")
def test_broker_folder_that_vanishes_comes_back(settings: RelaySettings) -> None:
    """Also while workers run."""
    broker = settings.state_dir / "broker"
    with EmbeddedService(settings, workers=1):
        shutil.rmtree(broker)
        until((broker / "messages").is_dir, "the broker folder is back")


def test_second_service_on_a_state_folder_is_refused(settings: RelaySettings) -> None:
    """And the first one does not notice."""
    with EmbeddedService(settings, workers=0) as first, ApiClient(first.url) as client:
        with pytest.raises(AlreadyRunning, match=str(os.getpid())), EmbeddedService(settings, workers=0):
            pass
        assert client.health().status == "ok"
        assert announced_url(settings.state_dir) == first.url


def test_taken_port_is_one_sentence(settings: RelaySettings) -> None:
    """Port and way out are named, and the state folder is free again."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(NotStarted, match=str(port)) as failure, EmbeddedService(settings, port=port, workers=0):
            pass
    assert "--port" in failure.value.hint
    with EmbeddedService(settings, workers=0):
        pass


def test_settings_that_do_not_work_leave_nothing_behind(settings: RelaySettings) -> None:
    """A failing application frees lock and port."""
    broken = settings.model_copy(update={"database_url": "mysql://nowhere/x"})
    with pytest.raises(SettingsError), EmbeddedService(broken, workers=0):
        pass
    with EmbeddedService(settings, workers=0):
        pass
