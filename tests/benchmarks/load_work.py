"""What is sent to the relay, and what is written into its record before so that it can be: webhooks, the callbacks of
backends, the results of planned tests.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, cast

from sqlalchemy import Table, insert
from sqlalchemy.orm import Session

from relay.allowlist.types import Level, repo_key
from relay.contract import Expected, ShardKind
from relay.devgithub.oidc import Issuer
from relay.intake.signature import sign
from relay.runs.creation import NewRun, open_run
from relay.store.crcr_models import Dispatch, DispatchState
from relay.store.engine import Store
from relay.store.models import PlannedTest, Run, Shard, ShardState, Trigger
from relay.views import RunState
from tests.benchmarks.bulk import write
from tests.benchmarks.load_client import Client, post
from tests.benchmarks.load_setups import WEBHOOK_SECRET, WORKER_TOKEN
from tests.conformance.payloads import UPSTREAM, callback, pull_request

DEVICE = "spyre"
BACKENDS = tuple(f"vendor{number}/backend" for number in range(5))
SHARD_SIZE = 200
_NUMBER, _SHA = 76_543_210, "76543210" * 5
_DELIVERY = "delivery-of-the-load-"
_WORKER = {"Authorization": f"Bearer {WORKER_TOKEN}"}


def webhooks(numbers: Iterator[int]) -> Callable[[], bytes]:
    """A signed delivery of another pull request each time."""
    template = json.dumps(pull_request(number=_NUMBER, sha=_SHA)).encode()

    def make() -> bytes:
        number = next(numbers)
        body = template.replace(str(_NUMBER).encode(), str(number).encode())
        body = body.replace(_SHA.encode(), f"{number:040x}".encode())
        headers = {
            "X-GitHub-Event": "pull_request",
            "X-GitHub-Delivery": f"{_DELIVERY}{number}",
            "X-Hub-Signature-256": sign(WEBHOOK_SECRET, body),
        }
        return post("/github/webhook", body, headers)

    return make


def plain(path: str) -> Callable[[], bytes]:
    """The same body each time, for a bare handler."""
    request = post(path, json.dumps(pull_request()).encode())
    return lambda: request


def allowlist() -> str:
    """Of a relay whose backends report."""
    return "L2:\n" + "".join(f"  - {repo}\n" for repo in BACKENDS)


def add_dispatches(store: Store, numbers: Iterator[int], deliveries: int) -> list[str]:
    """Dispatches to every backend that wait for their answer. The ids of the deliveries that they are of."""
    now, names = datetime.now(UTC), [f"answered-{next(numbers)}" for _ in range(deliveries)]
    rows = [
        {
            "delivery_id": name,
            "repo": repo,
            "repo_key": repo_key(repo),
            "level": Level.L2.name,
            "event_type": "pull_request",
            "upstream_repo": UPSTREAM,
            "pr_number": 7,
            "head_sha": "1" * 40,
            "nonce": "",
            "state": DispatchState.DISPATCHED,
            "queued_at": now,
            "dispatched_at": now,
        }
        for name in names
        for repo in BACKENDS
    ]
    with store.writing() as session:
        session.execute(insert(Dispatch), rows)
    return names


def callbacks(issuer: Issuer, deliveries: list[str]) -> list[bytes]:
    """For each dispatch a job that has begun, and afterwards one that has ended; each with a token of its own, which
    takes longer to sign than a callback takes: they are made before."""
    said = [(name, repo, status) for status in ("in_progress", "completed") for name in deliveries for repo in BACKENDS]
    return [_callback(issuer, *one) for one in said]


def _callback(issuer: Issuer, delivery: str, repo: str, status: str) -> bytes:
    body = json.dumps(callback(status, delivery=delivery)).encode()
    return post("/github/callback", body, {"Authorization": f"Bearer {issuer.mint(repo)}"})


def add_planned_runs(store: Store, numbers: Iterator[int], tests: int, *, shards_in_a_run: int = 2) -> None:
    """Runs that are planned and wait for workers of `DEVICE`, with at least so many tests together."""
    while tests > 0:
        with store.writing() as session:
            shards = _planned_run(session, next(numbers), shards_in_a_run)
            # Ids are given, as all rows go in at once.
            first = (session.query(PlannedTest.id).order_by(PlannedTest.id.desc()).limit(1).scalar() or 0) + 1
            write(session.connection(), cast("Table", PlannedTest.__table__), _tests(count(first), shards))
        tests -= len(shards) * SHARD_SIZE


def _planned_run(session: Session, number: int, shards: int) -> list[Shard]:
    run = open_run(session, _new_run(number), datetime.now(UTC))
    session.flush()
    session.get_one(Run, run.id).state = RunState.PLANNED
    for selected in session.query(Shard).where(Shard.run_id == run.id):
        selected.state = ShardState.DONE
    made = [
        Shard(run_id=run.id, ordinal=ordinal, kind=ShardKind.TEST, state=ShardState.DUE)
        for ordinal in range(1, shards + 1)
    ]
    session.add_all(made)
    session.flush()
    return made


def _new_run(number: int) -> NewRun:
    sha = f"{number:040x}"
    return NewRun(
        identity=f"load-{number}",
        repo=UPSTREAM,
        kind="pull_request",
        pr_number=None,
        title="Measured",
        body="",
        base_ref="main",
        base_sha=sha,
        head_sha=sha,
        fetch_ref="",
        device=DEVICE,
        trigger=Trigger.MANUAL,
    )


def _tests(ids: Iterator[int], shards: list[Shard]) -> Iterator[Mapping[str, Any]]:
    for shard in shards:
        for number in range(SHARD_SIZE):
            name = f"test_operator_{shard.ordinal}_{number}_spyre_float32"
            yield {
                "id": next(ids),
                "run_id": shard.run_id,
                "shard_id": shard.id,
                "test_id": f"test/test_ops.py::TestCommonSPYRE::{name}",
                "file": "test/test_ops.py",
                "base": f"test/test_ops.py::TestCommon::test_operator_{shard.ordinal}_{number // 20}",
                "expected": Expected.MANDATORY_SUCCESS,
                "rule": "exact",
                "provenance": "load.yaml:7",
            }


@dataclass(frozen=True, slots=True)
class Workers:
    """What workers do with shards but for the tests: take one, send what came of it in messages of `batch` results, end
    it. `held` are the leases that have nothing reported, `reported` those that only want their end."""

    batch: int
    held: deque[dict[str, Any]] = field(default_factory=deque)
    reported: deque[dict[str, Any]] = field(default_factory=deque)

    def lease(self, client: Client) -> None:
        """Take shard after shard."""
        while client.on_time and (lease := _lease(client)):
            self.held.append(lease)

    def report(self, client: Client) -> None:
        """Send the results of shard after shard."""
        while client.on_time and self.held:
            lease = self.held.popleft()
            names = [test["id"] for test in lease["tests"]]
            for sequence, start in enumerate(range(0, len(names), self.batch), start=1):
                batch = [_result(name) for name in names[start : start + self.batch]]
                body = json.dumps({"lease_id": lease["lease_id"], "sequence": sequence, "results": batch})
                client.ask(post(_path(lease, "results"), body.encode(), _WORKER), units=len(batch))
            self.reported.append(lease)

    def end(self, client: Client) -> None:
        """Say of shard after shard that it is done."""
        while client.on_time and self.reported:
            lease = self.reported.popleft()
            body = json.dumps({"lease_id": lease["lease_id"], "outcome": "done"}).encode()
            client.ask(post(_path(lease, "finish"), body, _WORKER))

    def work(self, client: Client) -> None:
        """All of it, one shard at a time."""
        alone = Workers(self.batch)
        while client.on_time and (lease := _lease(client)):
            alone.held.append(lease)
            alone.report(client)
            alone.end(client)


def _lease(client: Client) -> dict[str, Any] | None:
    """The next shard of tests. Those are asked for by somebody and come first; behind them wait the selections of runs
    that webhooks opened, which nobody does here."""
    body = json.dumps({"device": DEVICE, "worker": f"load-{client.number}"}).encode()
    status, answer = client.ask(post("/api/v1/worker/lease", body, _WORKER), statuses=(200, 204))
    lease: dict[str, Any] = json.loads(answer) if status == 200 else {}
    return lease if lease.get("kind") == ShardKind.TEST else None


def _path(lease: dict[str, Any], verb: str) -> str:
    return f"/api/v1/worker/shards/{lease['shard_id']}/{verb}"


def _result(name: str) -> dict[str, Any]:
    attempt = {"tree": "head", "number": 1, "observation": "passed", "duration_s": 0.0123}
    return {"id": name, "attempts": [attempt], "operators": ["aten::add.Tensor", "aten::mul.Tensor", "aten::sum"]}
