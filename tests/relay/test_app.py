"""The composition root: what starts, what stops, and what an application does with faults."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import inspect, text

from relay.app import create_app
from relay.context import RelayContext
from relay.errors import SettingsError
from relay.settings import RelaySettings
from relay.store.models import Shard, ShardState
from relay.views import ApiError
from tests.conftest import OpenApp
from tests.relay.stand_in import closed_port
from tests.relay.worker_story import NOW, arrive, lease
from tests.waiting import until


def test_the_application_answers_and_sweeps_while_it_serves(app: FastAPI, context: RelayContext) -> None:
    """A lease of long ago is given back without anybody asking, and the thread ends with the application."""
    arrive(context.store)
    held = lease(context.store, NOW)
    assert held is not None

    def is_due() -> bool:
        with context.store.reading() as session:
            return session.get_one(Shard, held.shard.id).state is ShardState.DUE

    with TestClient(app) as client:
        assert client.get("/api/v1/health").is_success
        until(is_due, "the lease is given back", 60)
    assert not [thread for thread in threading.enumerate() if thread.name == "relay-sweeper"]


def test_two_applications_share_one_record(
    app: FastAPI, settings: RelaySettings, context: RelayContext, open_app: OpenApp
) -> None:
    """A second process on the same state folder sees the same runs with the same tokens."""
    arrive(context.store)
    assert len(TestClient(open_app(settings)).get("/api/v1/runs").json()["runs"]) == 1
    assert TestClient(app).get("/api/v1/runs").is_success


def test_the_upgrade_can_be_left_to_somebody_else(
    settings: RelaySettings, empty_database_url: str, open_app: OpenApp
) -> None:
    """Where replicas start often, a job of its own upgrades the record."""
    app = open_app(settings.model_copy(update={"upgrade_on_start": False, "database_url": empty_database_url}))
    assert inspect(app.state.relay.store.engine).get_table_names() == []


def test_it_starts_while_the_database_is_away(settings: RelaySettings, open_app: OpenApp) -> None:
    """Where somebody else upgrades the record: it answers probes, and is ready once the database is."""
    with closed_port() as url:
        port = url.rpartition(":")[2]
        given = {"upgrade_on_start": False, "database_url": f"postgresql://user:word@127.0.0.1:{port}/relay"}
        client = TestClient(open_app(settings.model_copy(update=given)))
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503


@pytest.mark.embedded("looks at the files that this process has open")
def test_a_relay_that_cannot_start_lets_go_of_its_record(settings: RelaySettings) -> None:
    """Somebody mends a setting and tries again in the same process."""
    with pytest.raises(SettingsError):
        create_app(settings.model_copy(update={"crcr_strict_compat": True}))
    record = str(settings.state_dir)
    assert [found for found in _open_files() if found.startswith(record)] == []


def _open_files() -> Iterator[str]:
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the folder's own
            yield str(entry.readlink())


def test_a_bug_is_500_in_the_shape_of_the_surface(app: FastAPI) -> None:
    """The cause is in the log, not in the answer."""

    def fail() -> None:
        raise ValueError("a secret of the program")

    app.add_api_route("/api/v1/fail", fail)
    response = TestClient(app, raise_server_exceptions=False).get("/api/v1/fail")
    assert (response.status_code, ApiError.model_validate_json(response.text).code) == (500, "internal")
    assert "a secret of the program" not in response.text


def test_a_record_that_is_away_is_503(app: FastAPI, context: RelayContext) -> None:
    """With when to come back, and in each surface's shape."""
    with context.store.engine.begin() as connection:
        connection.execute(text("DROP TABLE run_events"))
        connection.execute(text("ALTER TABLE runs RENAME TO elsewhere"))
    client = TestClient(app)
    response = client.get("/api/v1/runs")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
    assert ApiError.model_validate_json(response.text).code == "database_unavailable"


def test_the_description_of_the_api_is_complete(app: FastAPI) -> None:
    """The worker, read and operator paths are all described."""
    paths = TestClient(app).get("/api/v1/openapi.json").json()["paths"]
    for path in (
        *("/api/v1/worker/lease", "/api/v1/worker/triage/chat/completions", "/api/v1/runs/{run_id}"),
        *("/api/v1/runs/{run_id}/rerun", "/api/v1/runs/{run_id}/cancel", "/api/v1/health", "/github/webhook"),
    ):
        assert path in paths
