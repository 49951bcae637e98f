"""`relay doctor` on room, descriptors, clocks, the device at work and spans: quiet when all is well, and only then."""

from __future__ import annotations

import resource
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from relay.cli.machine_checks import (
    check_clock_of,
    check_database_clock,
    check_descriptors,
    check_emulator,
    check_github_clock,
    check_room,
    check_tracing,
    compared,
)
from relay.settings import RelaySettings
from tests.conftest import MakeDatabase
from tests.relay.stand_in import closed_port


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.mark.parametrize(("gib", "status"), [(10, "ok"), (1, "warn"), (0, "fail")])
def test_room(settings: RelaySettings, monkeypatch: pytest.MonkeyPatch, gib: int, status: str) -> None:
    """Of the disk of the state folder, also before it is made."""
    asked: list[Path] = []

    def usage(folder: Path) -> Usage:
        asked.append(folder)
        return Usage(0, 0, gib << 30)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    found = check_room(settings)
    assert (found.status, bool(found.next_step)) == (status, status != "ok")
    assert asked == [settings.state_dir.parent]


@pytest.mark.parametrize(("limit", "status"), [(4096, "ok"), (512, "warn"), (128, "fail")])
def test_descriptors(monkeypatch: pytest.MonkeyPatch, limit: int, status: str) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert check_descriptors().status == status


def test_a_clock_that_differs() -> None:
    """By seconds it is a warning, by more than a lease lasts it is a fault."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    found = [compared("c", "theirs", now + timedelta(seconds=seconds), now) for seconds in (1, -10, 60)]
    assert [check.status for check in found] == ["ok", "warn", "fail"]
    assert found[1].detail == "this clock is 10 s ahead of theirs"
    assert found[2].detail == "this clock is 60 s behind theirs"


def test_the_databases_clock(settings: RelaySettings, make_postgres_database: MakeDatabase) -> None:
    there = settings.model_copy(update={"database_url": make_postgres_database("empty")})
    assert check_database_clock(there).status == "ok"
    for url in ("sqlite:////nowhere/relay.db", "postgresql://r:geheim@127.0.0.1:9/r"):
        found = check_database_clock(settings.model_copy(update={"database_url": url}))
        assert (found.status, "geheim" in str(found)) == ("skip", False)


@contextmanager
def dated(at: datetime) -> Iterator[str]:
    """A server that says what time it is, in an error as in any answer."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def date_time_string(self, timestamp: float | None = None) -> str:
            return format_datetime(at, usegmt=True)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_the_clock_of_a_server() -> None:
    with dated(datetime.now(UTC)) as url:
        assert check_clock_of("c", "its", url).status == "ok"
    with dated(datetime.now(UTC) + timedelta(hours=1)) as url:
        found = check_github_clock(RelaySettings(github_app_id=7, github_api_url=url))
    assert found.status == "fail"
    assert found.detail.endswith("s behind GitHub's")
    with closed_port() as url:
        assert check_clock_of("c", "its", url).status == "skip"
    assert check_github_clock(RelaySettings()).status == "skip"


def test_no_device_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_DEVICE_CACHE", str(tmp_path))
    assert check_emulator().status == "skip"


def test_a_device_that_is_broken_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that is none, in the place of the built one."""
    broken = tmp_path / "libspyre.so"
    broken.write_bytes(b"no library")
    monkeypatch.setenv("SPYRE_LIBRARY", str(broken))
    found = check_emulator()
    assert (found.status, "relay device build" in found.next_step) == ("fail", True)


def test_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for, and somebody listens or not; a login is not shown."""
    assert check_tracing().status == "skip"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://me:geheim@127.0.0.1:{port}")
        found = check_tracing()
        assert (found.status, found.detail) == ("ok", f"spans go to http://127.0.0.1:{port}")
    found = check_tracing()
    assert (found.status, "geheim" in str(found)) == ("warn", False)
