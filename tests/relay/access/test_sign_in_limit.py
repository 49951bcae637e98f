"""Tries to sign in are counted by address and altogether, in the record that all replicas share; on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, select

from relay.access import sign_in_limit
from relay.access.sign_in_limit import OVERALL, PER_ADDRESS, count_try
from relay.store.crcr_models import RateBucket
from relay.store.engine import Store

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ADDRESS = "192.0.2.1"


def tries(store: Store, count: int, address: str = ADDRESS) -> list[int | None]:
    return [count_try(store, address, NOW) for _ in range(count)]


def test_an_address_has_its_tries_and_then_waits(store: Store) -> None:
    assert tries(store, PER_ADDRESS + 2) == [None] * PER_ADDRESS + [3, 3]
    assert tries(store, 1, "192.0.2.2") == [None]
    assert count_try(store, ADDRESS, NOW + timedelta(seconds=3)) is None
    assert count_try(store, ADDRESS, NOW + timedelta(seconds=3)) == 3


def test_what_is_refused_costs_the_others_nothing(store: Store) -> None:
    """Neither a token of everybody's, nor a write."""
    tries(store, PER_ADDRESS)
    with store.reading() as session:
        before = session.scalar(select(RateBucket.tokens).where(RateBucket.key == "sign-in"))
    written: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        written.extend([statement] if statement.split(maxsplit=1)[0] in {"INSERT", "UPDATE", "DELETE"} else [])

    event.listen(store.engine, "before_cursor_execute", note)
    tries(store, 10)
    event.remove(store.engine, "before_cursor_execute", note)
    assert written == []
    with store.reading() as session:
        assert session.scalar(select(RateBucket.tokens).where(RateBucket.key == "sign-in")) == before
    assert before == OVERALL - PER_ADDRESS


def test_all_together_have_a_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limit, "OVERALL", 6)
    answers = [count_try(store, f"192.0.2.{number}", NOW) for number in range(8)]
    assert answers == [None] * 6 + [10, 10]


def test_a_machine_with_a_network_of_its_own_is_one_address(store: Store) -> None:
    answers = [count_try(store, f"2001:db8::{number}", NOW) for number in range(PER_ADDRESS + 1)]
    assert answers == [None] * PER_ADDRESS + [3]


def test_tries_at_once_are_counted_one_by_one(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: count_try(store, ADDRESS, NOW), range(PER_ADDRESS + 10)))
    assert answers.count(None) == PER_ADDRESS
