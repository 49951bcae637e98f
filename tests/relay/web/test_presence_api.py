"""A worker says over HTTP that it is there, and readers are told who is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import PresenceReply
from relay.now_views import WorkersView
from relay.settings import RelaySettings
from tests.conftest import OpenApp
from tests.relay.stories import Story

HELLO = {"worker": "w1", "device": "spyre", "process": "p1", "version": "1"}
PATH = "/api/v1/worker/presence"


def test_who_said_so_is_there(client: TestClient, worker_auth: dict[str, str]) -> None:
    answer = client.post(PATH, json=HELLO, headers=worker_auth)
    assert PresenceReply.model_validate(answer.json()).again_in_s > 0
    told = WorkersView.model_validate(client.get("/api/v1/workers").json())
    assert [(worker.name, worker.state) for worker in told.workers] == [("w1", "idle")]
    client.post(PATH, json={**HELLO, "leaving": True}, headers=worker_auth)
    told = WorkersView.model_validate(client.get("/api/v1/workers").json())
    assert [(worker.name, worker.state) for worker in told.workers] == [("w1", "left")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"worker": ""},
        {"worker": "x" * 501},
        {"device": ""},
        {"device": "a\0"},
        {"process": "no such process id"},
        {"concurrency": 0},
        {"environments": [{"name": "e", "torch_version": "1", "surprise": 1}]},
        {"environments": [{"name": "e", "torch_version": "1"}] * 33},
    ],
)
def test_odd_words_are_refused(client: TestClient, worker_auth: dict[str, str], wrong: dict[str, object]) -> None:
    assert client.post(PATH, json={**HELLO, **wrong}, headers=worker_auth).status_code == 422
    assert client.get("/api/v1/workers").json()["workers"] == []


def test_it_takes_a_token_of_a_worker(client: TestClient, operator_auth: dict[str, str]) -> None:
    assert client.post(PATH, json=HELLO).status_code == 401
    assert client.post(PATH, json=HELLO, headers=operator_auth).status_code == 403


def test_where_reading_takes_a_token_so_does_this(
    settings: RelaySettings, open_app: OpenApp, worker_auth: dict[str, str], operator_auth: dict[str, str]
) -> None:
    client = TestClient(open_app(settings.model_copy(update={"read_access": "token"})))
    assert client.post(PATH, json=HELLO, headers=worker_auth).status_code == 200
    assert client.get("/api/v1/workers").status_code == 401
    assert client.get("/api/v1/workers", headers=worker_auth).status_code == 403
    assert client.get("/api/v1/workers", headers=operator_auth).status_code == 200


def test_one_device_alone(client: TestClient, worker_auth: dict[str, str]) -> None:
    client.post(PATH, json=HELLO, headers=worker_auth)
    assert len(client.get("/api/v1/workers?device=spyre").json()["workers"]) == 1
    assert client.get("/api/v1/workers?device=other").json()["workers"] == []
    assert client.get("/api/v1/workers?device=%00").json()["workers"] == []


def test_the_page_shows_what_a_waiting_worker_tests_with_and_what_differs(
    client: TestClient, worker_auth: dict[str, str]
) -> None:
    torch = {"name": "default", "torch_version": "2.13.0", "python_version": "3.11.7"}
    client.post(PATH, json={**HELLO, "environments": [torch], "sandbox": "bubblewrap"}, headers=worker_auth)
    text = client.get("/now").text
    assert "Nothing to do; 1 worker idle." in text
    assert "has not worked on a run yet" in text
    assert "torch 2.13.0, Python 3.11.7, bubblewrap" in text
    assert "not alike" not in text
    hostile = {**HELLO, "worker": "<script>alert(1)</script>", "version": "<b>2</b>", "sandbox": "bubblewrap"}
    client.post(PATH, json={**hostile, "environments": [torch]}, headers=worker_auth)
    text = client.get("/now").text
    assert "Workers of spyre are not alike in relay version: 1 (w1), &lt;b&gt;2&lt;/b&gt;" in text
    assert "<script>alert" not in text


def test_the_page_shows_why_a_worker_can_do_nothing(client: TestClient, worker_auth: dict[str, str]) -> None:
    """In its own words, which are a stranger's."""
    client.post(PATH, json={**HELLO, "trouble": "No room <left>."}, headers=worker_auth)
    text = client.get("/now").text
    assert "Nothing to do; 1 worker cannot work." in text
    assert "No room &lt;left&gt;." in text
    client.post(PATH, json=HELLO, headers=worker_auth)
    assert "No room" not in client.get("/now").text


def test_a_waiting_run_beside_idle_workers_is_not_a_lack_of_workers(
    client: TestClient, context: RelayContext, worker_auth: dict[str, str]
) -> None:
    Story(context.store, now=context.now() - timedelta(seconds=5)).open()
    client.post(PATH, json=HELLO, headers=worker_auth)
    text = client.get("/now").text
    assert "though 1 worker is there and idle: it may not hear the broker." in text
    assert "Start one with" not in text
