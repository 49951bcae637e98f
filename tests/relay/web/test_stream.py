"""The event streams replay from any point, carry ids, and end with their run; over a real socket while they live.
However many are open, one reader asks the record."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event

from relay.context import RelayContext
from relay.runs.creation import cancel_run
from relay.runs.event_listing import newest_event_id
from relay.runs.states import note
from relay.web import stream
from relay.web.live.access import LiveParts
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


def newest(story: Story) -> int:
    with story.store.reading() as session:
        return newest_event_id(session)


def tell(story: Story, run: int, kind: str) -> None:
    with story.store.writing() as session:
        note(session, run, story.tick(), kind, "")


@contextmanager
def watching_all(app: FastAPI, query: str = "", headers: dict[str, str] | None = None) -> Iterator[Iterator[str]]:
    """The lines of the open stream of all runs."""
    with (
        serving(app) as url,
        httpx.Client(base_url=url, timeout=20, trust_env=False, headers=headers) as http,
        http.stream("GET", f"/api/v1/events{query}") as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield answer.iter_lines()


def messages(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    """The fields of each message of a stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line and fields:
            yield fields
            fields = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


def test_the_stream_of_all_runs_begins_now_and_tells_of_every_run(app: FastAPI, story: Story) -> None:
    story.open(pr=1)
    with watching_all(app) as lines:
        told = messages(lines)
        begun = newest(story)
        assert next(told) == {"event": "ready", "data": f'{{"last": {begun}}}', "id": str(begun)}
        runs = [story.open(pr=2), story.open(pr=3)]
        heard = [next(told), next(told)]
    assert [json.loads(each["data"])["run_id"] for each in heard] == runs
    assert [int(each["id"]) for each in heard] == [json.loads(each["data"])["id"] for each in heard]


def test_the_stream_of_all_runs_goes_on_where_a_reader_was_cut_off(app: FastAPI, story: Story) -> None:
    story.open(pr=1)
    known = newest(story)
    second = story.open(pr=2)
    for query, headers in ((f"?after={known}", {}), ("?after=0", {"Last-Event-ID": str(known)})):
        with watching_all(app, query, headers) as lines:
            told = messages(lines)
            assert next(told)["id"] == str(known)
            heard = json.loads(next(told)["data"])
            assert (heard["id"], heard["run_id"]) == (known + 1, second)


def test_a_reader_who_was_away_too_long_is_told_to_read_anew(app: FastAPI, story: Story) -> None:
    app.state.live = LiveParts.on(story.store, kept=3)
    finished_run(story)
    with watching_all(app, "?after=1") as lines:
        told = messages(lines)
        assert next(told)["event"] == "ready"
        resync = next(told)
        assert (resync["event"], resync["id"]) == ("resync", str(newest(story)))
        run = story.open(pr=2)
        assert json.loads(next(told)["data"])["run_id"] == run


@pytest.mark.parametrize("after", ["-1", "x", "99999999999"])
def test_a_beginning_that_is_no_id_is_refused(client: TestClient, after: str) -> None:
    assert client.get(f"/api/v1/events?after={after}").status_code == 422


@asynccontextmanager
async def open_stream(port: int, path: str) -> AsyncIterator[asyncio.StreamReader]:
    """A stream as a browser holds it open, without a client library: there will be very many."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
    yield reader
    writer.close()


async def hears(reader: asyncio.StreamReader, words: bytes) -> None:
    await asyncio.wait_for(reader.readuntil(words), 60)


def test_two_hundred_open_pages_ask_the_record_no_more_than_one_reader(app: FastAPI, story: Story) -> None:
    """Half of them follow all runs, half one run. While they wait and while they are told, only the reader asks."""
    run, asking = story.open(), set()

    def see(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("SELECT"):
            asking.add(threading.current_thread().name)

    async def follow(port: int) -> None:
        paths = ["/api/v1/events?after=0", f"/api/v1/runs/{run}/events"] * 100
        streams = [open_stream(port, path) for path in paths]
        readers = [await each.__aenter__() for each in streams]
        for reader in readers:
            await hears(reader, b"run.received")
        # Nothing tells a reader that a stream of one run has gone over from its history to what comes. Each of these
        # lines reaches a stream by either way.
        await asyncio.to_thread(story.lease)
        for reader in readers:
            await hears(reader, b"run.selecting")
        event.listen(story.store.engine, "before_cursor_execute", see)
        for number in range(3):
            await asyncio.to_thread(story.open, pr=100 + number)
        await asyncio.to_thread(tell, story, run, "told.last")
        for reader in readers:
            await hears(reader, b"told.last")
        event.remove(story.store.engine, "before_cursor_execute", see)
        for each in streams:
            await each.__aexit__(None, None, None)

    with serving(app) as url:
        asyncio.run(follow(int(url.rsplit(":", 1)[1])))
    ours = {name for name in asking if name.startswith("asyncio_")}  # the threads in which the story goes on
    assert asking - ours == {"live-events"}
