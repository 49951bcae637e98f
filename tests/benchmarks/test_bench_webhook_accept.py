"""Both sides of the webhook benchmark do the same work, and its figures are those that were measured."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from relay.intake.signature import sign
from relay.store.crcr_models import Dispatch, DispatchState
from relay.store.engine import Store, open_engine
from relay.store.models import Delivery
from tests.benchmarks.bench_webhook_accept import Side, percentile, report
from tests.benchmarks.webhook_sides import SECRET, SIDES, TARGETS, SlowGitHub, settings_in, sides
from tests.conformance.payloads import pull_request


@pytest.mark.parametrize("name", SIDES)
def test_a_side_keeps_the_delivery_and_tells_every_backend_once(tmp_path: Path, name: str) -> None:
    github = SlowGitHub(calls=1, call_s=0.001)
    body = json.dumps(pull_request()).encode()
    headers = {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "d1", "X-Hub-Signature-256": sign(SECRET, body)}
    app = sides()[name](tmp_path, github)
    with TestClient(app) as client:
        answer = client.post("/github/webhook", content=body, headers=headers).json()
        if name == "ours":
            app.state.relay.outbox.deliver_due()
    told = answer["queued"] if name == "ours" else answer["dispatched"]
    assert [entry["repo"] for entry in told] == list(TARGETS)
    assert github.dispatched_to() == sorted(TARGETS)
    assert all(sent.client_payload["payload"] == pull_request() for sent in github.dispatches)
    store = Store(open_engine(settings_in(tmp_path).database_url))
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(Delivery)) == 1
        states = session.scalars(select(Dispatch.state)).all()
    store.engine.dispose()
    assert states == [DispatchState.DISPATCHED] * len(TARGETS)


@pytest.mark.parametrize(
    ("values", "share", "value"),
    [([5.0], 99, 5.0), ([3.0, 1.0, 2.0], 50, 2.0), ([float(n) for n in range(1, 201)], 99, 198.0)],
)
def test_a_percentile_is_one_of_the_values(values: list[float], share: int, value: float) -> None:
    assert percentile(values, share) == value


def test_the_report_compares_what_was_measured() -> None:
    with httpx.Client() as http:
        ours = Side("ours", http, paced=[0.01] * 99 + [0.02], flooded=[0.05] * 10, flood_s=2)
        threads = Side("threads", http, paced=[0.2] * 98 + [0.4] * 2, flooded=[0.5] * 10, flood_s=4)
        one_by_one = Side("one by one", http, paced=[4.0] * 100, flooded=[4.0] * 8, flood_s=8)
        lines = report([ours, threads, one_by_one], 4.0, 4).splitlines()
    assert lines[1].split() == ["ours", "10.0", "ms", "10.0", "ms", "5.0/s", "50.0", "ms"]
    assert lines[2].split() == ["threads", "200.0", "ms", "400.0", "ms", "2.5/s", "500.0", "ms"]
    assert lines[4:] == ["p99 at 4/s: 40.0 times lower than threads", "p99 at 4/s: 400.0 times lower than one by one"]
