"""Two replicas of the service as processes of their own, each with its background, on one PostgreSQL and one Redis; and
a GitHub that they tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, TypeVar

import httpx

from relay.devgithub import Commit, DevGitHub, MemorySource
from relay.intake.signature import SIGNATURE_HEADER, sign
from relay.store.engine import Store, open_engine
from tests.conformance.payloads import BASE, UPSTREAM
from tests.github.serving import one_key, serve_devgithub
from tests.ports import free_port
from tests.waiting import until

_Found = TypeVar("_Found")

BACKENDS = tuple(f"a/backend{number}" for number in range(10))
LIST = ".github/allowlist.yml"
SECRET = "webhook-secret-of-two-replicas"
RATE_PER_MIN = 6
DEVICE = "spyre"
_START_S = 90.0
_OPERATOR, _WORKER = "operator-token-of-two-replicas", "worker-token-of-two-replicas"


@dataclass
class Replica:
    """One process that answers, and below it the one that sweeps."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def ask(self, method: str, path: str, *, token: str = _OPERATOR, **more: Any) -> httpx.Response:
        """As an operator, or with another token."""
        given = {"timeout": 30, "trust_env": False, "headers": {"Authorization": f"Bearer {token}"}, **more}
        return httpx.request(method, f"{self.url}{path}", **given)

    def work(self, path: str, **body: object) -> httpx.Response:
        """As a worker."""
        return self.ask("POST", f"/api/v1/worker/{path}", token=_WORKER, json=body)

    def webhook(self, event: str, payload: Mapping[str, Any], delivery: str) -> int:
        """A delivery of GitHub; the status it was answered with."""
        body = json.dumps(payload).encode()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery,
            SIGNATURE_HEADER: sign(SECRET, body),
        }
        return self.ask("POST", "/github/webhook", content=body, headers=headers).status_code

    def ready(self) -> bool:
        """Whether it answers, and somebody sweeps."""
        try:
            found = self.ask("GET", "/readyz")
        except httpx.TransportError:
            return False
        return found.status_code == 200 and found.json()["sweep_age_s"] is not None


@dataclass
class Pair:
    """Both, and what is around them."""

    replicas: tuple[Replica, Replica]
    store: Store
    github: DevGitHub
    files: dict[str, str]
    _turns: Iterator[int] = field(default_factory=lambda: cycle((0, 1)))

    @property
    def next(self) -> Replica:
        """One after the other, as a load balancer gives them."""
        return self.replicas[next(self._turns)]

    def at_once(self, ask: Callable[[Replica], _Found], times: int) -> list[_Found]:
        """Ask both, `times` in all, all of it at the same moment."""
        start = threading.Barrier(times)

        def one(replica: Replica) -> _Found:
            start.wait(30)
            return ask(replica)

        with ThreadPoolExecutor(times) as pool:
            return list(pool.map(one, [self.next for _ in range(times)]))


@contextmanager
def serving_pair(folder: Path, database_url: str, broker_url: str) -> Iterator[Pair]:
    """Started and ready; ended at the end."""
    with ExitStack() as stack:
        github = stack.enter_context(serve_devgithub(DevGitHub(issuer_pem=one_key()), described=False)).state
        files = {LIST: "L2:\n" + "".join(f"  - {repo}\n" for repo in BACKENDS)}
        app = github.add_app(private_pem=one_key())
        source = MemorySource(files=files)
        source.add(Commit(BASE, message="Base"))
        source.refs["main"] = BASE
        github.add_repository(UPSTREAM, source=source, app=app)
        for repo in BACKENDS:
            github.add_repository(repo, app=app)
        settings = _settings(folder, github, app.id) | {
            "RELAY_DATABASE_URL": database_url,
            "RELAY_BROKER_URL": broker_url,
        }
        replicas = [stack.enter_context(_serving(folder / f"replica{number}", settings)) for number in (1, 2)]
        engine = open_engine(database_url)
        stack.callback(engine.dispose)
        for replica in replicas:
            until(replica.ready, replica.log.read_text, _START_S)
        yield Pair((replicas[0], replicas[1]), Store(engine), github, files)


def _settings(folder: Path, github: DevGitHub, app_id: int) -> dict[str, str]:
    (folder / "manifests").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": os.getcwd(),
        "RELAY_MANIFEST_DIR": str(folder / "manifests"),
        "RELAY_UPSTREAM_REPO": UPSTREAM,
        "RELAY_WEBHOOK_SECRET": SECRET,
        "RELAY_WORKER_TOKEN": _WORKER,
        "RELAY_OPERATOR_TOKEN": _OPERATOR,
        "RELAY_SWEEP_SECONDS": "0.3",
        "RELAY_CRCR_RATE_PER_MIN": str(RATE_PER_MIN),
        "RELAY_GITHUB_APP_ID": str(app_id),
        "RELAY_GITHUB_APP_PRIVATE_KEY": one_key(),
        "RELAY_GITHUB_API_URL": github.url,
        "RELAY_GITHUB_WEB_URL": github.url,
        "RELAY_DEV_OIDC_ISSUER": github.url,
        "RELAY_ALLOWLIST_URL": f"{github.url}/{UPSTREAM}/blob/main/{LIST}",
    }


@contextmanager
def _serving(folder: Path, settings: Mapping[str, str]) -> Iterator[Replica]:
    folder.mkdir()
    port, log = free_port(), folder / "log"
    command = [sys.executable, "-m", "relay", "serve", "--port", str(port)]
    with log.open("wb") as output:
        environment = {**settings, "RELAY_STATE_DIR": str(folder / "state")}
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        yield Replica(f"http://127.0.0.1:{port}", process, log)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
