"""The whole service as in production: two replicas that answer, two backgrounds, three workers, each kept running by a
supervisor; and the GitHub, PostgreSQL and Redis that they stand on.

Two machines have a replica and a background each, three have a worker. Workers reach the relay through a balancer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import httpx
from pydantic import SecretStr

from relay.devgithub import Commit, DevGitHub, MemorySource, create_devgithub
from relay.devgithub.keys import new_private_pem
from relay.machine.processes import Backoff, ChildSpec, Supervisor
from relay.store.engine import Store, open_engine
from tests.faults.balancer import Balancer
from tests.faults.lots import lots
from tests.faults.machine import Machine, build_shim
from tests.faults.servers import Postgres, Redis
from tests.faults.slim_python import make_slim_python
from tests.faults.upstream import Upstream, make_upstream, write_manifests
from tests.ports import free_port
from tests.relay.serving import serving
from tests.waiting import until

UPSTREAM = "pytorch/pytorch"
BACKENDS = ("a/one", "a/two", "a/three", "a/four")
SECRET = SecretStr("webhook-secret-of-the-fault-suite")
_TOKEN = "worker-token-of-the-fault-suite"
REPLICAS, WORKERS = 2, 3
#: Scaled down from 30 s, and with it what waits for a lease to end.
LEASE_S = 6.0
_START_S = 90.0
_SERVICE = (sys.executable, "-m", "relay")


@dataclass
class Part:
    """A process that a supervisor keeps running, its log, and how to reach it where it answers."""

    name: str
    machine: Machine
    supervisor: Supervisor
    log: Path
    port: int = 0

    @property
    def pid(self) -> int | None:
        """Its process, None while it is away."""
        return next(iter(self.supervisor.pids()), None)


@dataclass
class Fleet:
    """All parts, and what a fault needs of them."""

    folder: Path
    upstream: Upstream
    github: DevGitHub
    postgres: Postgres
    redis: Redis
    machines: tuple[Machine, ...]
    replicas: tuple[Part, ...] = ()
    backgrounds: tuple[Part, ...] = ()
    workers: tuple[Part, ...] = ()
    #: Each worker's way to the relay, and to Redis.
    balancers: tuple[Balancer, ...] = ()
    redis_ways: tuple[Balancer, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.replicas + self.backgrounds + self.workers

    @contextmanager
    def record(self) -> Iterator[Store]:
        """The record, for a look."""
        engine = open_engine(self.postgres.url)
        try:
            yield Store(engine)
        finally:
            engine.dispose()

    def ready(self, replica: Part) -> bool:
        """Whether `/readyz` is 200."""
        try:
            return httpx.get(f"http://127.0.0.1:{replica.port}/readyz", timeout=5, trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False

    def workers_seen(self) -> set[str]:
        """The names of workers that the relay has heard of and that did not say goodbye."""
        for replica in self.replicas:
            try:
                answer = httpx.get(f"http://127.0.0.1:{replica.port}/api/v1/workers", timeout=5, trust_env=False)
            except httpx.HTTPError:
                continue
            if answer.status_code == 200:
                return {worker["name"] for worker in answer.json()["workers"] if worker["state"] != "silent"}
        return set()


@contextmanager
def fleet(folder: Path, changes: int, random: Random) -> Iterator[Fleet]:
    """Started, ready, and all of it ended at the end."""
    folder.chmod(0o755)  # PostgreSQL and the sandbox's programs are other users
    with ExitStack() as stack:
        shim = build_shim(folder)
        names = [*(f"service-{number + 1}" for number in range(REPLICAS)), *(f"worker-{n + 1}" for n in range(WORKERS))]
        machines = tuple(Machine(name, folder / name, shim) for name in names)
        upstream = make_upstream(folder / "upstream.git", changes, random)
        postgres = Postgres(folder / "postgres")
        stack.callback(postgres.stop)
        redis = Redis(folder / "redis")
        redis.start()
        stack.callback(redis.stop)
        github = stack.enter_context(_github(upstream))
        made = Fleet(folder, upstream, github, postgres, redis, machines)
        settings = _settings(made)
        _serve(made, settings, stack)
        until(lambda: all(made.ready(part) for part in made.replicas), "both replicas answer", _START_S)
        _work(made, stack)
        until(lambda: len(made.workers_seen()) >= WORKERS, "all workers are there", _START_S)
        yield made
        with ThreadPoolExecutor(len(made.parts)) as together:
            list(together.map(lambda part: part.supervisor.stop(), made.parts))


@contextmanager
def _github(upstream: Upstream) -> Iterator[DevGitHub]:
    pem = new_private_pem()
    github = DevGitHub(issuer_pem=pem)
    app = github.add_app(private_pem=pem)
    for repo in (UPSTREAM, *BACKENDS):
        github.add_repository(repo, app=app)
    source = github.repository(UPSTREAM).source
    assert isinstance(source, MemorySource)
    source.add(Commit(upstream.base, message="Base"))
    source.refs["main"] = upstream.base
    with serving(create_devgithub(github)) as url:
        github.url = url
        yield github
        github.hooks.close()


def _settings(fleet: Fleet) -> dict[str, str]:
    """The environment of the service's own processes."""
    folder = fleet.folder
    allowlist = folder / "allowlist.yml"
    allowlist.write_text("L2:\n" + "".join(f"  - {repo}\n" for repo in BACKENDS), encoding="utf-8")
    app = next(iter(fleet.github.apps.values()))
    return {
        "RELAY_DATABASE_URL": fleet.postgres.url,
        "RELAY_BROKER_URL": fleet.redis.url,
        "RELAY_UPSTREAM_REPO": UPSTREAM,
        "RELAY_UPSTREAM_CLONE_URL": str(fleet.upstream.repository),
        "RELAY_DEVICE": "cpu",
        "RELAY_MANIFEST_DIR": str(write_manifests(folder / "manifests")),
        "RELAY_WEBHOOK_SECRET": SECRET.get_secret_value(),
        "RELAY_WORKER_TOKEN": _TOKEN,
        "RELAY_OPERATOR_TOKEN": "operator-token-of-the-fault-suite",
        "RELAY_LEASE_SECONDS": str(LEASE_S),
        "RELAY_SWEEP_SECONDS": "0.5",
        "RELAY_GITHUB_APP_ID": str(app.id),
        "RELAY_GITHUB_APP_PRIVATE_KEY": app.private_pem,
        "RELAY_GITHUB_API_URL": fleet.github.url,
        "RELAY_ALLOWLIST_URL": f"file:{allowlist}",
    }


def _serve(fleet: Fleet, settings: Mapping[str, str], stack: ExitStack) -> None:
    service = fleet.machines[:REPLICAS]
    web, background = (*_SERVICE, "serve", "--web-only", "--port"), (*_SERVICE, "background")
    made = []
    for number, machine in enumerate(service, 1):
        port = free_port()
        supervisor, log = _keep_running(fleet, f"web-{number}", machine, (*web, str(port)), settings)
        made.append(Part(f"web-{number}", machine, stack.enter_context(supervisor), log, port))
    fleet.replicas = tuple(made)
    made = []
    for number, machine in enumerate(service, 1):
        supervisor, log = _keep_running(fleet, f"background-{number}", machine, background, settings)
        made.append(Part(f"background-{number}", machine, stack.enter_context(supervisor), log))
    fleet.backgrounds = tuple(made)


def _work(fleet: Fleet, stack: ExitStack) -> None:
    ports = [replica.port for replica in fleet.replicas]
    python = make_slim_python(fleet.folder / "slim")
    fleet.balancers = tuple(Balancer(ports, lots(number, "balancer")) for number in range(WORKERS))
    fleet.redis_ways = tuple(Balancer([fleet.redis.port], lots(number, "redis")) for number in range(WORKERS))
    for way in fleet.balancers + fleet.redis_ways:
        way.start()
        stack.callback(way.stop)
    made = []
    for machine, to_relay, to_redis in zip(fleet.machines[REPLICAS:], fleet.balancers, fleet.redis_ways, strict=True):
        told = _worker(machine, to_relay, to_redis)
        supervisor, log = _keep_running(fleet, machine.name, machine, (str(python), "-m", "workers"), told)
        made.append(Part(machine.name, machine, stack.enter_context(supervisor), log))
    fleet.workers = tuple(made)


def _worker(machine: Machine, to_relay: Balancer, to_redis: Balancer) -> dict[str, str]:
    """What `relay worker` gives the process that it becomes."""
    return {
        "RELAY_URL": f"http://127.0.0.1:{to_relay.port}",
        "RELAY_BROKER_URL": f"redis://127.0.0.1:{to_redis.port}/0",
        "RELAY_WORKER_TOKEN": _TOKEN,
        "RELAY_WORKER_NAME": machine.name,
        "RELAY_DEVICE": "cpu",
        "RELAY_WORK_DIR": str(machine.disk / "work"),
    }


def _keep_running(
    fleet: Fleet, name: str, machine: Machine, command: tuple[str, ...], settings: Mapping[str, str]
) -> tuple[Supervisor, Path]:
    """As systemd would: started again at once, and again and again."""
    log = fleet.folder / "logs" / f"{name}.log"
    state = {"RELAY_STATE_DIR": str(machine.disk / "state"), "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(Path.cwd())}
    spec = ChildSpec(name, command, machine.environment({**state, **settings}), log)
    return Supervisor([spec], upkeep=lambda: None, backoff=Backoff(0.5, 2.0, 5.0)), log
