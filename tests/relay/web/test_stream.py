"""The event stream replays from any point, carries ids, and ends with the run; over a real socket while it lives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.runs.creation import cancel_run
from relay.web import stream
from tests.relay.serving import serving
from tests.relay.stories import Story, planned, report_of

TESTS = [f"test/test_demo_ops.py::TestDemoOpsSPYRE::test_op{number}__float32" for number in range(3)]


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store, now=context.now())


def events_of(lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Id and data of each event of a stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if not line:
            if "data" in fields:
                yield int(fields["id"]), json.loads(fields["data"])
            fields = {}
            continue
        name, _, value = line.partition(": ")
        fields[name] = value


@contextmanager
def watching(app: FastAPI, run: int) -> Iterator[httpx.Response]:
    """The open event stream of a run, over a socket."""
    with (
        serving(app) as url,
        httpx.Client(base_url=url, timeout=20, trust_env=False) as http,
        http.stream("GET", f"/api/v1/runs/{run}/events") as answer,
    ):
        yield answer


def finished_run(story: Story) -> int:
    run = story.open()
    story.select(report_of([[planned(test) for test in TESTS]]))
    story.run_all({})
    return run


def read_all(client: TestClient, path: str, headers: dict[str, str] | None = None) -> list[tuple[int, dict[str, Any]]]:
    answer = client.get(path, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    return list(events_of(iter(answer.text.splitlines())))


def test_a_finished_run_is_told_from_its_beginning_and_ends(client: TestClient, story: Story) -> None:
    run = finished_run(story)
    events = read_all(client, f"/api/v1/runs/{run}/events")
    ids = [number for number, _ in events]
    assert ids == sorted(set(ids))
    assert [data["id"] for _, data in events] == ids
    kinds = [data["kind"] for _, data in events]
    assert (kinds[0], kinds[-1]) == ("run.received", "run.finished")
    assert "tests.reported" in kinds


def test_a_reader_that_was_cut_off_gets_the_rest(client: TestClient, story: Story) -> None:
    path = f"/api/v1/runs/{finished_run(story)}/events"
    events = read_all(client, path)
    assert read_all(client, path, {"Last-Event-ID": str(events[2][0])}) == events[3:]
    assert read_all(client, f"{path}?after={events[4][0]}") == events[5:]
    # A browser that reconnects repeats its first address: the header is the newer word.
    assert read_all(client, f"{path}?after={events[0][0]}", {"Last-Event-ID": str(events[2][0])}) == events[3:]
    assert read_all(client, path, {"Last-Event-ID": str(events[-1][0])}) == []


@pytest.mark.parametrize("odd", [b"x", b"-1", b"1.5", b"\xb2", b"9" * 400])
def test_an_odd_resume_point_is_no_error(client: TestClient, story: Story, odd: bytes) -> None:
    path = f"/api/v1/runs/{finished_run(story)}/events"
    answer = client.get(path, headers=[(b"Last-Event-ID", odd)])
    assert list(events_of(iter(answer.text.splitlines()))) in (read_all(client, path), [])


def test_more_events_than_a_batch_all_arrive(client: TestClient, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/api/v1/runs/{finished_run(story)}/events"
    whole = read_all(client, path)
    monkeypatch.setattr(stream, "_BATCH", 2)
    assert read_all(client, path) == whole


def test_events_of_other_runs_stay_out(client: TestClient, story: Story) -> None:
    run, other = story.open(pr=1), story.open(pr=2)
    for each in (run, other):
        with story.store.writing() as session:
            cancel_run(session, each, story.tick(), "stop")
    assert {data["run_id"] for _, data in read_all(client, f"/api/v1/runs/{run}/events")} == {run}


def test_an_open_stream_tells_what_happens_and_ends_with_the_run(app: FastAPI, story: Story) -> None:
    run = story.open()
    with watching(app, run) as answer:
        events = events_of(answer.iter_lines())
        assert next(events)[1]["kind"] == "run.received"
        story.select(report_of([[planned(test) for test in TESTS]]))
        assert next(data for _, data in events if data["kind"] == "run.planned")
        story.run_all({})
        assert [data["kind"] for _, data in events][-1] == "run.finished"


def test_a_reader_that_leaves_is_let_go(app: FastAPI, story: Story) -> None:
    """The server stops although the run of an abandoned stream is not over."""
    run = story.open()
    with serving(app) as url, httpx.Client(base_url=url, timeout=20, trust_env=False) as http:
        with http.stream("GET", f"/api/v1/runs/{run}/events") as answer:
            assert next(events_of(answer.iter_lines()))[1]["kind"] == "run.received"
        assert http.get("/api/v1/health").status_code == 200


def test_an_idle_stream_sends_a_heartbeat(app: FastAPI, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.2)
    run = story.open()
    with watching(app, run) as answer:
        assert any(line.startswith(": ") for line in answer.iter_lines())
