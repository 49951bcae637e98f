"""A machine to be attacked: a real worker with secrets in its environment and files, and a relay that listens.

The worker's token and the broker's address are really in its environment; the other secrets are planted where a
worker's user has such things. Servers of every kind wait for test code and count who comes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celery import Celery

from relay.contract import (
    WAKE_TASK,
    Attempt,
    Expected,
    Observation,
    TestOrder,
    Tree,
    broker_connection,
    queue_name,
)
from tests.hostile.doors import Doors, doors_of
from tests.hostile.remains import children, family
from tests.waiting import until
from tests.workers.leases import a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble, serving
from tests.workers.runner.sandbox.inside import missing
from tests.workers.small_upstream import Upstream, new_upstream
from workers.runner.sandbox import find_sandbox
from workers.shards.base_results import ObservationStore
from workers.spyre.build import ensure_library

_PACKAGE = "tests/hostile/attacks"
ATTACKS = Path(__file__).with_name("attacks")
TRIES = ATTACKS / "tries.py"
DEVICE_CACHE = Path("~/.cache/oot-relay-tests/device").expanduser()
LIMIT_S = 240.0
BROKER = "broker-of-the-worker"


@dataclass
class Report:
    """What a hostile test says it tried: how far each try got, and what it measured."""

    test: str
    observations: list[str]
    detail: str
    seconds: float

    @property
    def told(self) -> bool:
        return "TRIES " in self.detail

    @property
    def tries(self) -> dict[str, Any]:
        told = self.detail.partition("TRIES ")[2].partition(" END")[0]
        assert told, f"{self.test} said nothing: {self.observations} {self.detail[:2000]}"
        found: dict[str, Any] = json.loads(told)
        return found

    @property
    def got(self) -> dict[str, Any]:
        """The tries that got through."""
        return {name: seen for name, seen in self.tries.items() if seen == "GOT"}


@dataclass
class Machine:
    """A worker at work, what it has, and what it was seen to do."""

    folder: Path
    relay: RelayDouble
    upstream: Upstream
    worker: subprocess.Popen[str]
    victim: subprocess.Popen[bytes]
    doors: Doors
    celery: Celery
    shards: int = 0
    reports: dict[str, Report] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def log(self) -> str:
        return (self.folder / "worker.log").read_text()

    def lasting(self) -> list[int]:
        """The worker and its pool, which are there from its start to its end."""
        return [self.worker.pid, *children(self.worker.pid)]

    def pids(self) -> list[int]:
        """The worker, its pool, and this process."""
        return [os.getpid(), *family(self.worker.pid)]

    def run(self, tests: Sequence[tuple[str, float | None]]) -> dict[str, Report]:
        """One shard with these tests (`file::Class::name`, and a limit in seconds); what each says, by its name."""
        lease_id = f"hostile-{self.shards}"
        self.shards += 1
        base = self.upstream.git("rev-parse", "HEAD")
        files = {f"test/test_{file.name}": file.read_text() for file in ATTACKS.glob("*.py") if file != TRIES}
        # Imported by the name it has here.
        shared = {"tries.py": TRIES.read_text(), "facts.json": json.dumps(self.facts())}
        files |= {f"test/{_PACKAGE}/{name}": text for name, text in shared.items()}
        head = self.upstream.commit(files)
        orders = tuple(
            # Expected to fail: a report is a failure, and is not asked for again.
            TestOrder(
                id=f"test/{name}", file=f"test/{name.partition('::')[0]}", expected=Expected.XFAIL, timeout_s=limit
            )
            for name, limit in tests
        )
        before, ended = len(self.relay.results), len(self.relay.finished)
        lease = a_test_lease(self.upstream.change(base, head), orders, lease_id=lease_id)
        self.relay.leases.append(lease.model_copy(update={"shard_id": 100 + self.shards}))
        self.celery.send_task(WAKE_TASK, queue=queue_name("spyre"), ignore_result=True)
        self.celery.close()
        until(lambda: len(self.relay.finished) > ended or self.worker.poll() is not None, "the shard's end", LIMIT_S)
        assert self.worker.poll() is None, self.log()
        found = {}
        for result in self.relay.results[before:]:
            name = result.id.removeprefix("test/")
            seen = [attempt.observation.value for attempt in result.attempts]
            assert name not in found, f"two results for {name}"
            found[name] = Report(name, seen, result.attempts[0].detail, sum(a.duration_s for a in result.attempts))
        self.reports |= found
        return found

    def facts(self) -> dict[str, Any]:
        """What an attacker may know: where everything is, and no secret."""
        # What `workers.upstream.checkout` calls it.
        name = hashlib.sha256(str(self.upstream.path).encode()).hexdigest()[:16]
        mirror = self.work / "mirrors" / f"{name}.git"
        other = self.work / "shards" / "7-of-another-run"
        tree = self.work / "trees" / "of-another-run"
        library = next((self.folder / "device").glob("*.so"))
        home = self.folder / "home"
        return {
            "pids": [*self.pids(), self.victim.pid],
            "victim": self.victim.pid,
            **self.doors.facts(),
            "relay": int(self.relay.url.rpartition(":")[2]),
            "disk": os.stat(self.folder).st_dev,
            "secret_files": {
                "token": str(self.folder / "token"),
                "key": str(home / ".ssh" / "id_ed25519"),
                "netrc": str(home / ".netrc"),
                "cache": str(home / ".cache" / "oot-relay" / "note"),
                "another run": str(other / "scratch" / "note"),
                "another tree": str(tree / "note"),
                "the log": str(self.folder / "worker.log"),
                "the environment": f"/proc/{self.worker.pid}/environ",
            },
            "folders": {
                "work": str(self.work),
                "shards": str(self.work / "shards"),
                "another run": str(other / "scratch"),
                "another tree": str(tree),
                "mirrors": str(self.work / "mirrors"),
                "upstream": str(self.upstream.path / ".git"),
                "broker": str(self.folder / BROKER),
            },
            "homes": {"home": str(home), "cache": str(home / ".cache"), "device": str(library.parent)},
            "mirror": str(mirror),
            "worker_files": {
                "library": str(library),
                "lock": str(library.parent / ".lock"),
                "config": str(mirror / "config"),
                "token": str(self.folder / "token"),
                "key": str(home / ".ssh" / "id_ed25519"),
                "another tree": str(tree / "note"),
            },
            "base_results": str(self.work / "base-results.sqlite"),
        }


@contextmanager
def a_machine(folder: Path, **settings: str) -> Iterator[Machine]:
    """A worker that is ready, with `settings` beside its own, in its own folder."""
    with _planted(folder):
        yield from _attacked(folder, settings)


def _attacked(folder: Path, settings: dict[str, str]) -> Iterator[Machine]:
    (folder / "device").mkdir()
    library = ensure_library(DEVICE_CACHE)
    (folder / "device" / library.name).write_bytes(library.read_bytes())
    (folder / "device" / ".lock").touch()
    upstream = new_upstream(folder / "upstream")
    upstream.commit({"README.md": "upstream\n"})
    broker = f"filesystem://{folder}/{BROKER}"
    with ExitStack() as ending, (folder / "worker.log").open("w") as log:
        relay = ending.enter_context(serving(RelayDouble()))
        doors = ending.enter_context(doors_of(folder / "database.sock"))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "RELAY_URL": relay.url,
            "RELAY_BROKER_URL": broker,
            "RELAY_WORKER_TOKEN": TOKEN,
            "RELAY_WORK_DIR": str(folder / "work"),
            "RELAY_DEVICE_CACHE": str(folder / "device"),
        }
        command = [sys.executable, "-m", "workers"]
        worker = subprocess.Popen(command, env=environment | settings, stdout=log, stderr=log, text=True)
        ending.callback(worker.wait, 30)
        ending.callback(worker.kill)
        victim = subprocess.Popen(["sleep", "600"])
        ending.callback(victim.wait, 30)
        ending.callback(victim.kill)
        connection = broker_connection(broker)
        celery = Celery("waker", broker=connection.url, set_as_current=False)
        celery.conf.broker_transport_options = connection.transport_options
        machine = Machine(folder, relay, upstream, worker, victim, doors, celery)
        until(lambda: "worker ready" in machine.log() or worker.poll() is not None, "a ready worker", LIMIT_S)
        assert worker.poll() is None, machine.log()
        # A pool process answers for its own start by being there.
        until(lambda: len(machine.pids()) > 2, "the worker's pool", LIMIT_S)
        yield machine


def missing_sandbox() -> None:
    """Where there is no whole sandbox: skip, or fail in CI."""
    if problem := find_sandbox().problem:
        missing(problem)


@contextmanager
def _planted(folder: Path) -> Iterator[None]:
    """Secrets, and what other runs have on this machine."""
    secret = "planted-secret-of-the-worker\n"
    seen = Attempt(tree=Tree.BASE, number=1, observation=Observation.FAILED, duration_s=1.0, detail=secret)
    ObservationStore(folder / "work" / "base-results.sqlite").save("another base", {"another test": (seen,)})
    files = ("home/.ssh/id_ed25519", "home/.netrc", "home/.cache/oot-relay/note", "home/.config/note",
             "work/shards/7-of-another-run/scratch/note", "work/trees/of-another-run/note")  # fmt: skip
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secret)
        # As open as it can be: only the sandbox is in between.
        path.chmod(0o666)
        path.parent.chmod(0o777)
    token = folder / "token"
    token.write_text(TOKEN)
    token.chmod(0o666)
    (folder / "work" / "base-results.sqlite").chmod(0o666)
    with (folder / "work/shards/7-of-another-run/.lock").open("w") as lock:
        # It is of a worker that lives.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
