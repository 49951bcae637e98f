"""Rows HA: the endpoint that takes results in."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from tests.conformance.reported import RESULTS, post, posted, rows
from tests.conformance.world import World
from tests.relay.hud.reports import envelope

_LIMIT = 2 * 1024 * 1024


@pytest.mark.row("HA01")
def test_only_posting_is_allowed(world: World) -> None:
    answer = world.client.get(RESULTS)
    assert (answer.status_code, answer.json()) == (405, {"error": "Method not allowed"})


@pytest.mark.row("HA02")
@pytest.mark.parametrize("key", [None, "", "a key of somebody else"])
def test_another_key_is_refused(world: World, key: str | None) -> None:
    answer = post(world, envelope(), key=key)
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    assert rows(world) == []


@pytest.mark.row("HA03")
def test_a_valid_result_is_written_once(world: World) -> None:
    answer = post(world, envelope("completed", conclusion="success"))
    assert answer.status_code == 200
    assert (answer.json()["ok"], answer.json()["status"]) == (True, "completed")
    assert "a/l2" in answer.json()["dynamoKey"]
    (row,) = rows(world)
    assert (row.status, row.conclusion, row.dynamo_key) == ("completed", "success", answer.json()["dynamoKey"])


@pytest.mark.row("HA04")
def test_a_result_without_a_job_name_is_refused(world: World) -> None:
    answer = post(world, envelope(job_name=...))
    assert (answer.status_code, answer.json()) == (400, {"error": "Missing required field: workflow.job_name"})
    assert rows(world) == []


@pytest.mark.row("HA05")
def test_a_store_that_fails_is_an_internal_error(world: World) -> None:
    """And the same result is taken once the store is back."""
    engine = world.context.store.engine

    def refuse(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "crcr_results" in statement:
            raise OperationalError(statement, {}, RuntimeError("disk full"))

    event.listen(engine, "before_cursor_execute", refuse)
    answer = post(world, envelope())
    event.remove(engine, "before_cursor_execute", refuse)
    assert answer.status_code == 500
    assert answer.json()["error"].startswith("Internal error")
    assert rows(world) == []
    assert post(world, envelope()).status_code == 200


@pytest.mark.row("HA06")
@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream"])
def test_a_body_that_comes_as_text_is_read(world: World, content_type: str) -> None:
    headers = {"x-hud-internal-bot": "key-of-our-own-results", "Content-Type": content_type}
    answer = world.client.post(RESULTS, content=json.dumps(envelope()), headers=headers)
    assert answer.status_code == 200
    assert len(rows(world)) == 1


@pytest.mark.row("HA07")
@pytest.mark.parametrize(("size", "status"), [(0, 200), (_LIMIT, 200), (_LIMIT + 1, 413)])
def test_a_body_has_at_most_two_mebibytes(world: World, size: int, status: int) -> None:
    answer = post(world, json.dumps(envelope()).encode().ljust(size))
    assert answer.status_code == status
    assert len(rows(world)) == (status == 200)
    if status == 413:
        assert answer.json() == {"error": "Payload exceeds 2MB limit"}


@pytest.mark.row("HA03")
def test_what_another_relay_tells_later_is_added(world: World) -> None:
    """An end does not erase the wait that the start told."""
    posted(world, queue_time=12.5, started_at="2026-11-02T09:00:00Z")
    row = posted(world, "completed", conclusion="failure", execution_time=3)
    assert (row.queue_time, row.execution_time, row.started_at is not None) == (12.5, 3, True)
