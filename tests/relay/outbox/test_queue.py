"""A decision becomes one row, whoever decides it how often, and a committed row rings the bell."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from relay.outbox.bell import BELL
from relay.outbox.queue import NewItem, enqueue, enqueue_all
from relay.store.crcr_models import KEY_CAP, OutboxItem, OutboxKind, OutboxState
from relay.store.engine import Store
from tests.relay.stories import START


def _item(key: str, **changes: Any) -> NewItem:
    given = {"kind": OutboxKind.HUD, "key": key, "lane": "lane", "target": "hud", "body": {"n": key}} | changes
    return NewItem(**given)


def test_a_row_is_due_at_once_and_holds_what_was_given(store: Store) -> None:
    with store.writing() as session:
        item = _item("k")
        assert enqueue(
            session, kind=item.kind, key=item.key, lane=item.lane, target=item.target, body=item.body, now=START
        )
    with store.reading() as session:
        row = session.scalars(select(OutboxItem)).one()
        assert (row.key, row.lane, row.target, row.body, row.attempts) == ("k", "lane", "hud", {"n": "k"}, 0)
        assert (row.state, row.due_at, row.open_since, row.settled_at) == (OutboxState.DUE, START, START, None)


def test_a_known_key_adds_nothing_and_changes_nothing(store: Store) -> None:
    with store.writing() as session:
        assert len(enqueue_all(session, [_item("a"), _item("b")], START)) == 2
    with store.writing() as session:
        fresh = enqueue_all(session, [_item("b", target="other"), _item("c")], START)
        assert [session.get_one(OutboxItem, row).key for row in fresh] == ["c"]
        assert {row.key: row.target for row in session.scalars(select(OutboxItem))} == dict.fromkeys("abc", "hud")


def test_of_many_who_decide_the_same_at_once_one_puts_it_in(store: Store) -> None:
    def decide(_: int) -> int:
        with store.writing() as session:
            return len(enqueue_all(session, [_item("same")], START))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(decide, range(24))) == 1


def test_a_key_that_is_too_long_for_its_column_is_still_an_identity(store: Store) -> None:
    longest = "k" * (KEY_CAP + 1)
    with store.writing() as session:
        fresh = enqueue_all(session, [_item(longest, lane=longest), _item(longest + "x"), _item(longest)], START)
    assert len(fresh) == 2


@pytest.mark.parametrize(("keys", "rings"), [(["new"], True), (["known"], False), ([], False)])
def test_the_bell_rings_for_rows_that_were_committed(store: Store, keys: list[str], rings: bool) -> None:
    with store.writing() as session:
        enqueue_all(session, [_item("known")], START)
    before = BELL.rings
    with store.writing() as session:
        enqueue_all(session, [_item(key) for key in keys], START)
        assert BELL.rings == before
    assert (BELL.rings > before) == rings


def test_the_bell_does_not_ring_for_a_rollback(store: Store) -> None:
    before = BELL.rings
    with store.writing() as session:
        enqueue_all(session, [_item("k")], START)
        session.rollback()
    assert BELL.rings == before
