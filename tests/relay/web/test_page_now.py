"""*Now* tells what runs and what waits on each device, how long that may take, and who works."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event

from relay.context import RelayContext
from relay.contract import Observation
from relay.web.live.access import LiveParts
from relay.web.live.events import LiveEvents
from relay.web.live.sharing import SharedReads
from tests.relay.stories import Story, ended, planned, report_of

FILE = "test/test_demo_ops.py"
TESTS = [f"{FILE}::TestDemoOpsSPYRE::test_op{number}__float32" for number in range(4)]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{ 7*7 }}"


@pytest.fixture
def story(context: RelayContext) -> Story:
    """Its clock is a little behind the service's, so that leases are current."""
    return Story(context.store, now=context.now() - timedelta(seconds=10))


def finished(story: Story, *, took_s: float) -> int:
    """A run that ended ten minutes ago and had taken so long."""
    now = story.now
    story.now = now - timedelta(minutes=10)
    run = story.open(pr=1)
    story.select(report_of([[planned(test) for test in TESTS]]))
    story.now += timedelta(seconds=took_s)
    story.run_all({})
    story.now = now + timedelta(seconds=1)
    return run


def running(story: Story, *, pr: int = 7) -> int:
    run = story.open(pr=pr)
    story.select(report_of([[planned(TESTS[0])], [planned(TESTS[1])]]))
    shard, lease, tests = story.lease()
    story.report(shard, lease, [ended(tests[0], Observation.PASSED)])
    return run


def page(client: TestClient, path: str = "/now") -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def in_order(text: str, *parts: str) -> None:
    """The parts stand in the text, one after the other."""
    at = -1
    for part in parts:
        found = text.find(part, at + 1)
        assert found > at, f"{part!r} is missing or too early"
        at = found


@contextmanager
def statements(context: RelayContext) -> Iterator[list[str]]:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(context.store.engine, "before_cursor_execute", note)
    yield seen
    event.remove(context.store.engine, "before_cursor_execute", note)


def test_nothing_to_do_is_said_plainly(client: TestClient) -> None:
    text = page(client)
    in_order(text, "<h1>Now", "spyre", "Nothing to do; no worker seen in the last day.", "relay worker")
    assert "data-unfinished" not in text


def test_running_comes_first_with_its_time_and_worker_then_the_queue(client: TestClient, story: Story) -> None:
    for _ in range(3):
        finished(story, took_s=120)
    run = running(story)
    first, second = story.open(pr=8, title="First"), story.open(pr=9, title="Second")
    text = page(client)
    in_order(
        text,
        *("1 run at work, 2 waiting; 1 worker at work.", "Running", f"/runs/{run}", "1 of 2 tests reported"),
        *("1 of 3 shards done, 1 at work, 1 waiting · worker-1", "of about 2 min", "the median of 3 past runs"),
        *("Waiting", "place 1 of 2", f"/runs/{first}", "First", "starts in about", "then takes about 2 min"),
        *("place 2 of 2", f"/runs/{second}", "Second", "Workers", "at work", "worker-1", "runs tests of"),
    )


def test_a_run_without_a_past_has_no_expectation(client: TestClient, story: Story) -> None:
    running(story)
    story.open(pr=8)
    text = page(client)
    assert "so far" in text
    assert "no finished run to compare with yet" in text
    assert "no guess when it starts" in text
    assert 'class="bar"' not in text


def test_a_run_over_its_time_is_marked(client: TestClient, story: Story) -> None:
    finished(story, took_s=1)
    run = running(story)
    in_order(page(client), "longer than usual", f"/runs/{run}")


def test_waiting_runs_and_no_worker_are_trouble(client: TestClient, story: Story) -> None:
    story.open()
    text = page(client)
    assert "1 run waits and no worker is at work on spyre." in text
    assert "relay doctor" in text
    running(story, pr=9)  # takes the first run's shards too, in the order of the queue
    assert "no worker is at work" not in page(client)


def test_a_worker_whose_heartbeats_stopped_is_silent(client: TestClient, context: RelayContext, story: Story) -> None:
    story.now = context.now() - timedelta(seconds=28)
    running(story)
    text = page(client)
    in_order(text, "1 worker silent", "Workers", "silent", "worker-1", "last heartbeat")


def test_an_idle_worker_is_known_by_its_last_run(client: TestClient, story: Story) -> None:
    run = finished(story, took_s=5)
    in_order(page(client), "1 worker idle", "idle", "worker-1", "last on", f"/runs/{run}", "last seen")


def test_one_device_has_an_address(client: TestClient, story: Story) -> None:
    running(story)
    text = page(client, "/now?device=spyre")
    in_order(text, "Now on spyre", "all devices", "1 of 2 tests reported", "/api/v1/now?device=spyre")
    other = page(client, "/now?device=other")
    assert "Nothing to do" in other
    assert "1 of 2 tests reported" not in other


@pytest.mark.parametrize("device", ["%00", "x" * 500, "%3Cb%3E", "%F0%9F%8E%89"])
def test_an_odd_device_is_still_a_page(client: TestClient, device: str) -> None:
    text = page(client, f"/now?device={device}")
    assert "Nothing to do" in text
    assert "<b>" not in text


def test_hostile_text_is_only_text(client: TestClient, story: Story) -> None:
    story.worker = HOSTILE
    story.open(title=HOSTILE)
    story.lease()
    text = page(client)
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "{{ 7*7 }}" in text


def test_the_page_follows_what_happens_and_without_a_script_is_asked_again(client: TestClient, story: Story) -> None:
    running(story)
    text = page(client)
    last = client.get("/api/v1/now").json()["last_event"]
    assert f'data-events="/api/v1/events?after={last}"' in text
    assert '<noscript><p class="again"><a href="/now">Look again</a>' in text
    assert "http-equiv" not in text
    assert "data-unfinished" in text


def test_the_queries_do_not_grow_with_the_runs(client: TestClient, context: RelayContext, story: Story) -> None:
    finished(story, took_s=5)
    running(story)
    with statements(context) as few:
        page(client)
    story.worker = "worker-2"
    for number in range(20, 40):
        story.open(pr=number)
    with statements(context) as many:
        page(client)
    assert len(many) == len(few) < 20


def test_it_says_why_runs_wait_and_that_the_queue_is_deep(
    app: FastAPI, client: TestClient, context: RelayContext, story: Story
) -> None:
    finished(story, took_s=60)
    running(story)
    for pr in (21, 22):
        story.open(pr=pr)
    found = page(client)
    assert "Pull request; it is the next and waits for a worker alone" in found
    assert "Pull request; older runs go first" in found
    assert "What waits of it: it has its part of the workers (1 of 1) while others wait" in found
    assert "The queue is deep" not in found
    pressed = context.settings.model_copy(update={"queue_deep_s": 0.001})
    app.state.relay = replace(context, settings=pressed)
    assert "The queue is deep, about" in page(client)


def test_the_same_as_json(client: TestClient, story: Story) -> None:
    for _ in range(3):
        finished(story, took_s=60)
    run, queued = running(story), story.open(pr=8)
    (device,) = client.get("/api/v1/now").json()["devices"]
    assert (device["device"], device["queued_total"]) == ("spyre", 1)
    (now,) = device["running"]
    assert (now["run"]["id"], now["workers"], now["place"]) == (run, ["worker-1"], None)
    assert now["shards"] == {"waiting": 1, "at_work": 1, "ended": 1}
    assert now["expected"]["runs"] == 3
    assert 60 <= now["expected"]["seconds"] < 70
    (waiting,) = device["queued"]
    assert (waiting["run"]["id"], waiting["place"]) == (queued, 1)
    assert 0 < waiting["starts_in_s"] <= now["expected"]["seconds"]
    (worker,) = device["workers"]
    assert (worker["name"], worker["state"], worker["run_id"], worker["kind"]) == ("worker-1", "working", run, "test")


def test_a_device_that_is_no_text_of_ours_is_refused(client: TestClient) -> None:
    assert client.get("/api/v1/now", params={"device": "x" * 101}).status_code == 422


def test_pages_that_are_open_share_what_they_read(client: TestClient, app: FastAPI, context: RelayContext) -> None:
    """Also the list of runs and the page of a run; who opens one reads anew."""
    story = Story(context.store)
    run = story.open()
    open_page = {"x-relay-refresh": "1"}
    live = LiveEvents(context.store)
    app.state.live = LiveParts(live, SharedReads(lambda: live.newest, clock=lambda: 0.0))  # a moment that does not end

    async def follow() -> None:
        with live.following() as follower:
            await follower.begin()
            for path in ("/now", "/", f"/runs/{run}"):
                await asyncio.to_thread(client.get, path, headers=open_page)
                with statements(context) as shared:
                    answer = await asyncio.to_thread(client.get, path, headers=open_page)
                assert answer.status_code == 200
                assert [each for each in shared if "FROM runs" in each] == []
                with statements(context) as own:
                    await asyncio.to_thread(client.get, path)
                assert [each for each in own if "FROM runs" in each] != []

    asyncio.run(follow())
