"""What an orchestrator and Prometheus ask: whether the process answers, what is late, and figures they can read."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Dialect, event

from relay.app import create_app
from relay.context import RelayContext
from relay.metrics.pulse import SWEEP
from relay.outbox.queue import NewItem, enqueue_all
from relay.settings import RelaySettings
from relay.store.crcr_models import OutboxKind
from relay.store.duties import DutyLease
from tests.relay.stories import DEVICE, Story, passed, planned, report_of

TESTS = [f"test/test_demo.py::TestDemoSPYRE::test_{number}" for number in range(3)]


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store, now=context.now() - timedelta(seconds=90))


def figures(client: TestClient) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    reply = client.get("/metrics")
    assert reply.status_code == 200
    found = {}
    for family in text_string_to_metric_families(reply.text):
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_a_process_that_answers_is_well(client: TestClient) -> None:
    """Without asking anybody else."""
    reply = client.get("/healthz")
    assert (reply.status_code, reply.text) == (200, "ok\n")


def test_a_service_that_nobody_sweeps_is_ready_and_says_so(client: TestClient, context: RelayContext) -> None:
    """It answers all the same, so requests may come. There is no age of what never was, which the alert goes by."""
    sweep = DutyLease(context.store, SWEEP, lasts_s=10, now=context.now)
    assert client.get("/readyz").json()["late"] == ["sweep"]
    assert ("relay_sweep_age_seconds", ()) not in figures(client)
    sweep.hold()
    sweep.done()
    reply = client.get("/readyz")
    assert reply.status_code == 200
    assert reply.json()["late"] == []
    assert reply.json()["sweep_age_s"] >= 0


def test_a_queue_without_workers_and_letters_that_nobody_sends_are_late(
    client: TestClient, context: RelayContext, story: Story
) -> None:
    """Each with its age; a worker that was heard of takes the queue off the list."""
    story.open()
    story.open(pr=8, head="3" * 40)
    with context.store.writing() as session:
        letter = NewItem(OutboxKind.HUD, "key", "lane", "https://hud.example", {})
        enqueue_all(session, [letter], context.now() - timedelta(seconds=400))
    found = client.get("/readyz").json()
    assert found["late"] == ["sweep", "outbox", "workers"]
    assert found["queue_age_s"][DEVICE] == pytest.approx(89, abs=5)
    assert found["outbox_age_s"] == pytest.approx(400, abs=5)
    story.lease()
    assert client.get("/readyz").json()["late"] == ["sweep", "outbox"]


def test_a_record_that_is_away_makes_it_not_ready(client: TestClient, context: RelayContext) -> None:
    """In the same form, so that a person sees why."""
    event.listen(context.store.engine, "do_connect", _refuse)
    context.store.engine.dispose()
    reply = client.get("/readyz")
    assert reply.status_code == 503
    assert reply.json() == {**reply.json(), "ready": False, "late": ["database"]}
    assert client.get("/healthz").status_code == 200


def _refuse(dialect: Dialect, *_: object) -> None:
    raise dialect.loaded_dbapi.OperationalError("it is away")


def test_the_figures_tell_of_queues_runs_workers_and_stages(client: TestClient, story: Story) -> None:
    """As they are in the record at this moment."""
    story.open()
    story.select(report_of([[planned(test) for test in TESTS[:2]]]))
    story.run_all({TESTS[0]: passed(TESTS[0])})
    story.open(pr=8, head="3" * 40)
    found = figures(client)
    device = ("device", DEVICE)
    assert found["relay_recent_runs", (("conclusion", "success"), device)] == 1
    assert found["relay_runs_unfinished", (device, ("state", "received"))] == 1
    assert found["relay_shards", (device, ("state", "due"))] == 1
    assert found["relay_inbox_waiting", ()] == 0
    assert found["relay_queue_age_seconds", (("class", "pull_request"), device)] > 0
    assert found["relay_recent_verdict_seconds", (device, ("quantile", "0.5"))] > 0
    stages = {labels[1][1]: value for (name, labels), value in found.items() if name == "relay_stage_entered"}
    assert set(stages) == {"1", "2", "3", "4"}


def test_requests_are_counted_by_route_not_by_address(client: TestClient) -> None:
    """Whoever asks for addresses that no route has adds one name, not one each."""
    for path in ("/runs/1", "/runs/2", "/nowhere/1", "/nowhere/2"):
        client.get(path)
    found = {labels: value for (name, labels), value in figures(client).items() if name.endswith("seconds_count")}
    routes = {dict(labels)["route"]: value for labels, value in found.items()}
    assert routes["/runs/{run_id}"] == 2
    assert routes["other"] == 2
    assert not [route for route in routes if "nowhere" in route]


def test_figures_are_for_readers_and_probes_for_everybody(settings: RelaySettings) -> None:
    """Where reading takes a token."""
    app: FastAPI = create_app(settings.model_copy(update={"read_access": "token"}))
    with TestClient(app) as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200


def test_a_probe_does_not_read_how_runs_went(client: TestClient, context: RelayContext) -> None:
    """It comes every few seconds, to every replica."""
    said: list[str] = []
    event.listen(context.store.engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    assert client.get("/readyz").status_code == 200
    assert said
    assert not [line for line in said if "FROM selections" in line or "finished_at" in line]


def test_a_scrape_costs_the_same_however_much_there_is(client: TestClient, context: RelayContext, story: Story) -> None:
    said: list[str] = []

    def scrape() -> int:
        said.clear()
        figures(client)
        return len([line for line in said if line.startswith("SELECT")])

    event.listen(context.store.engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    story.open()
    once = scrape()
    for pr in range(8, 14):
        story.open(pr=pr, head=f"{pr:040x}")
    assert scrape() == once < 20
