"""Hold `simulate` to a real service: a burst of changes on this machine, and what the simulation says of it.

    python -m tests.benchmarks.simulate_real [--changes N] [--workers N]

The service times are those of the burst itself, from its record; so the ratio says what is right about the queue and
what is not: waiting, the order, waking, and what lies between two shards of a worker. About a minute.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import httpx
import structlog

from relay.client import FINAL_STATES, ApiClient
from relay.demo.repository import UpstreamChange
from relay.demo.webhook import pull_request_opened
from relay.intake.signature import sign
from relay.machine.embedded import EmbeddedService
from relay.queue_views import WorkClass
from relay.settings import RelaySettings
from relay.views import RunDetail, RunEvent
from tests.benchmarks.simulate_day import Job
from tests.benchmarks.simulate_queue import simulate
from tests.e2e.upstream import SLOW_TESTS, make_upstream, write_manifests
from tests.waiting import until

_TEST_FILE = "test/test_slow.py"
_SHARD = re.compile(r"Shard (\d+)\b")
_ENDS_S = 900.0


@dataclass(frozen=True, slots=True)
class Told:
    """A run of the burst: seconds from its arrival to its verdict, and of each of its shards, the selection's first."""

    arrived_s: float
    verdict_s: float
    shards: Sequence[float]


def main() -> int:
    wanted = _arguments()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with tempfile.TemporaryDirectory(prefix="simulate-") as folder:
        told = burst(Path(folder), wanted.changes, wanted.workers)
    jobs = [Job(one.arrived_s, WorkClass.PULL_REQUEST, f"pr {number}", one.shards[0], tuple(one.shards[1:]))
            for number, one in enumerate(told)]  # fmt: skip
    outcome = simulate(jobs, wanted.workers)
    real, predicted = mean(one.verdict_s for one in told), mean(outcome.verdicts())
    last, predicted_last = max(one.arrived_s + one.verdict_s for one in told), outcome.ended_s
    shards = sum(len(one.shards) for one in told)
    print(f"{len(told)} changes at once, {shards} shards, {wanted.workers} workers")
    print(f"to a verdict, mean: {real:.1f} s real, {predicted:.1f} s simulated: ratio {predicted / real:.2f}")
    print(
        f"to the last verdict: {last:.1f} s real, {predicted_last:.1f} s simulated: ratio {predicted_last / last:.2f}"
    )
    print(f"beside its shards a worker spent {(last - predicted_last) * wanted.workers / shards:.2f} s on each")
    return 0


def burst(folder: Path, changes: int, workers: int) -> list[Told]:
    """Deliver that many pull requests at once to a service of our own, and wait for their verdicts."""
    change = make_upstream(folder / "upstream", {_TEST_FILE: SLOW_TESTS.format(count=4, seconds=0.5)})
    settings = RelaySettings(
        state_dir=folder / "state",
        upstream_clone_url=str(change.repository),
        manifest_dir=write_manifests(folder / "manifests", [_TEST_FILE]),
        shard_size=2,
    )
    with _service(settings, workers) as (service, client):
        for number in range(1, changes + 1):
            _deliver(service, change, number)

        def all_ended() -> bool:
            runs = client.runs(limit=changes).runs
            return len(runs) == changes and all(run.state in FINAL_STATES for run in runs)

        until(all_ended, "the verdicts of the burst", _ENDS_S)
        details = [client.run(run.id) for run in client.runs(limit=changes).runs]
        first = min(detail.run.created_at for detail in details)
        return [_told(detail, client.history(detail.run.id).events, (detail.run.created_at - first).total_seconds())
                for detail in details]  # fmt: skip


@contextmanager
def _service(settings: RelaySettings, workers: int) -> Iterator[tuple[EmbeddedService, ApiClient]]:
    with ExitStack() as stack:
        service = stack.enter_context(EmbeddedService(settings, workers=workers))
        client = stack.enter_context(ApiClient(service.url))
        until(lambda: len(client.workers().workers) == workers, "the workers", _ENDS_S)
        yield service, client


def _deliver(service: EmbeddedService, change: UpstreamChange, number: int) -> None:
    """The same change as another pull request."""
    secret = service.settings.webhook_secret
    assert secret is not None
    webhook = pull_request_opened(change, service.settings.upstream_repo, secret.get_secret_value())
    payload = json.loads(webhook.body)
    payload["number"] = payload["pull_request"]["number"] = number
    body = json.dumps(payload).encode()
    headers = {**webhook.headers, "X-Hub-Signature-256": sign(secret.get_secret_value(), body)}
    answer = httpx.post(f"{service.url}/github/webhook", content=body, headers=headers, trust_env=False)
    answer.raise_for_status()


def _told(detail: RunDetail, events: Sequence[RunEvent], arrived_s: float) -> Told:
    run, began, took = detail.run, {}, {}
    for event in events:
        match = _SHARD.match(event.text)
        shard = int(match[1]) if match else 0  # "Selected by ..."
        if event.kind == "shard.leased":
            began[shard] = event.at
        elif event.kind == "shard.done":
            took[shard] = (event.at - began[shard]).total_seconds()
    assert run.finished_at is not None
    return Told(arrived_s, (run.finished_at - run.created_at).total_seconds(), [took[n] for n in sorted(took)])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--changes", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
