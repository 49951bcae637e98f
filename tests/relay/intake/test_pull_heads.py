"""A pull request's webhooks count in the order in which upstream made them, however late they come and however many
handle them at once; on both databases."""

from __future__ import annotations

import copy
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from relay.intake.deliveries import process_delivery, record_delivery
from relay.runs.changes import change_of_pull
from relay.store.engine import Store
from relay.store.models import Delivery, DeliveryState, Run
from relay.views import RunState
from tests.relay.stories import DEVICE, START

PULL = json.loads((Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json").read_text("utf-8"))
REPO = "pytorch/pytorch-like"
NOON, LATER, LAST = "2026-11-02T12:00:00Z", "2026-11-02T12:05:00Z", "2026-11-02T12:09:00Z"
OLD, NEW = "1" * 40, "2" * 40


def pull(action: str, head: str, moved: str | None, number: int = 7, *, repo: str = REPO) -> bytes:
    payload: dict[str, Any] = copy.deepcopy(PULL)
    payload |= {"action": action, "number": number}
    payload["repository"]["full_name"] = repo
    payload["pull_request"] |= {"number": number, "updated_at": moved, "merged": False}
    payload["pull_request"]["head"]["sha"] = head
    return json.dumps(payload).encode()


def keep(store: Store, delivery: str, body: bytes) -> int:
    with store.writing() as session:
        return record_delivery(session, delivery, "pull_request", body, START)[0].id


def handle(store: Store, delivery: str, body: bytes) -> Delivery:
    """Keep and handle a webhook; it as it is then."""
    row = keep(store, delivery, body)
    with store.writing() as session:
        process_delivery(session, row, (DEVICE,), START)
        return session.get_one(Delivery, row)


def heads(store: Store) -> dict[str, RunState]:
    """The heads that runs were opened for, with their states."""
    with store.reading() as session:
        return {run.head_sha: run.state for run in session.scalars(select(Run).order_by(Run.id))}


def test_a_webhook_that_comes_late_does_not_undo_what_came_after_it(store: Store) -> None:
    """GitHub was asked to send it again; the pull request has moved on."""
    handle(store, "second", pull("synchronize", NEW, LATER))
    late = handle(store, "first", pull("synchronize", OLD, NOON, repo=REPO.upper()))
    assert heads(store) == {NEW: RunState.RECEIVED}
    assert late.state is DeliveryState.IGNORED
    assert late.note == "it came late: a later webhook of pull request 7 was handled before"
    with store.reading() as session:
        change = change_of_pull(session, 7, DEVICE, repo=REPO)
    assert change is not None
    assert change.heads[0].sha == NEW


def test_a_late_word_of_an_open_pull_request_opens_nothing_once_it_was_closed(store: Store) -> None:
    handle(store, "closed", pull("closed", NEW, LATER))
    handle(store, "opened", pull("synchronize", NEW, NOON))
    assert heads(store) == {}
    handle(store, "reopened", pull("reopened", NEW, LAST))
    assert heads(store) == {NEW: RunState.RECEIVED}


def test_a_late_word_of_its_end_cancels_nothing_once_it_was_opened_again(store: Store) -> None:
    handle(store, "reopened", pull("reopened", NEW, LATER))
    handle(store, "closed", pull("closed", NEW, NOON))
    assert heads(store) == {NEW: RunState.RECEIVED}


@pytest.mark.parametrize("moved", [NOON, None, "no moment", "0001-01-01T00:00:00+14:00"])
def test_of_one_moment_or_none_the_order_of_arrival_counts(store: Store, moved: str | None) -> None:
    """GitHub's moments are whole seconds."""
    for delivery, head in (("first", OLD), ("second", NEW)):
        handle(store, delivery, pull("synchronize", head, moved))
    assert heads(store) == {OLD: RunState.CANCELLED, NEW: RunState.RECEIVED}


def test_what_arrived_first_and_is_handled_last_is_late_too(store: Store) -> None:
    """It was postponed, or another background took the one behind it."""
    first = keep(store, "first", pull("synchronize", OLD, NOON))
    handle(store, "second", pull("synchronize", NEW, NOON))
    with store.writing() as session:
        assert process_delivery(session, first, (DEVICE,), START) == ()
    assert heads(store) == {NEW: RunState.RECEIVED}


def test_pull_requests_of_other_repositories_and_numbers_do_not_count(store: Store) -> None:
    handle(store, "seven", pull("opened", "7" * 40, LATER))
    handle(store, "eight", pull("opened", "8" * 40, NOON, number=8))
    handle(store, "other", pull("opened", "9" * 40, NOON, repo="else/where"))
    assert set(heads(store).values()) == {RunState.RECEIVED}
    assert len(heads(store)) == 3


def test_several_that_handle_one_pull_request_at_once_leave_its_newest_head(store: Store) -> None:
    """Two backgrounds go through the same inbox; each takes the next that the other does not hold."""
    count = 30
    rows = [
        keep(store, f"{number}/{head}", pull("synchronize", f"{number}{head}".rjust(40, "0"), NOON, number))
        for number in range(100, 100 + count)
        for head in (1, 2)
    ]
    both = threading.Barrier(2)

    def sweep() -> None:
        both.wait(timeout=30)
        for row in rows:
            with store.writing() as session:
                process_delivery(session, row, (DEVICE,), START)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(sweep) for _ in range(2)]:
            done.result(timeout=120)
    left = [sha for sha, state in heads(store).items() if state is not RunState.CANCELLED]
    assert left == [f"{number}2".rjust(40, "0") for number in range(100, 100 + count)]
