"""Which tests used which operators: recorded once a test, bounded, and asked for rarest first."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from relay.contract import Observation, ObservedOperators, TestResult
from relay.runs.operators import forget_old_uses, observed_uses, operator_of, record_uses
from relay.store.engine import Store
from relay.store.models import OperatorUse, Run
from tests.relay.worker_story import (
    DEVICE,
    arrive,
    arrive_and_plan,
    get_run,
    must_lease,
    names,
    post_results,
    result,
    results,
)

BASE = "test/test_ops.py::TestOps::test_add"


def note(store: Store, run_id: int, *seen: tuple[str, Sequence[str]]) -> None:
    with store.writing() as session:
        record_uses(session, session.get_one(Run, run_id), seen)


def ask(store: Store, *operators: str, device: str = DEVICE, limit: int = 5_000) -> dict[str, tuple[str, ...]]:
    return {uses.operator: uses.tests for uses in asked(store, *operators, device=device, limit=limit).operators}


def asked(store: Store, *operators: str, device: str = DEVICE, limit: int = 5_000) -> ObservedOperators:
    with store.reading() as session:
        return observed_uses(session, device, operators, limit=limit)


def rows(store: Store) -> int:
    with store.reading() as session:
        return session.scalar(select(func.count()).select_from(OperatorUse)) or 0


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        *(("aten::add.Tensor", "aten::add"), ("aten::add_", "aten::add_"), ("prims::x", "prims::x")),
        *(("aten::add.Tensor.x", None), ("add", None), ("a b::c", None), ("aten::\u00e4", None), ("", None)),
        *(("aten::" + "x" * 200, None), ("aten::add\n", None), ("'; DROP TABLE runs::x", None)),
    ],
)
def test_names_lose_their_overload_and_must_look_like_names(name: str, operator: str | None) -> None:
    assert operator_of(name) == operator


def test_what_a_worker_reports_is_known_of_the_base_test(store: Store) -> None:
    """All variants of a test together, without what is no name."""
    arrive_and_plan(store, [names(3)])
    leased = must_lease(store)
    told = [("aten::add.Tensor", "aten::mul.Scalar"), ("aten::add.out", "no name"), ()]
    done = [
        TestResult(id=name, attempts=result(name, Observation.PASSED).attempts, operators=operators)
        for name, operators in zip(names(3), told, strict=True)
    ]
    post_results(store, leased, results(leased, done))
    assert ask(store, "aten::add", "aten::mul", "aten::sub") == {"aten::add": (BASE,), "aten::mul": (BASE,)}
    assert ask(store, "aten::add", device="other") == {}


def test_a_later_run_renews_and_an_earlier_one_does_not_age(store: Store) -> None:
    first, second = arrive(store), arrive(store)
    for run_id in (second, first, second):
        note(store, run_id, ("t", ["aten::add"]))
    with store.reading() as session:
        assert session.scalars(select(OperatorUse.last_run_id)).all() == [second]


def test_many_uses_in_one_report_and_the_same_again(store: Store) -> None:
    """More than one statement can hold."""
    run_id = arrive(store)
    seen = [(f"t{test}", [f"aten::op{operator}" for operator in range(60)]) for test in range(60)]
    for _ in range(2):
        note(store, run_id, *seen)
    assert rows(store) == 3_600


def test_several_runs_note_the_same_at_once(store: Store) -> None:
    """Nobody waits in a circle, and each use is there once."""
    runs = [arrive(store) for _ in range(4)]
    seen = [(f"t{test}", [f"aten::op{operator}" for operator in range(30)]) for test in range(10)]
    with ThreadPoolExecutor(4) as pool:
        for number, future in enumerate(
            [pool.submit(note, store, run_id, *seen[number:], *seen[:number]) for number, run_id in enumerate(runs)]
        ):
            future.result(timeout=60)
            assert number < 4
    assert rows(store) == 300
    with store.reading() as session:
        assert set(session.scalars(select(OperatorUse.last_run_id))) <= set(runs)


def test_the_oldest_are_forgotten_first(store: Store) -> None:
    for number in range(10):
        note(store, arrive(store), *((f"t{number}", [f"aten::op{operator}"]) for operator in range(10)))
    with store.writing() as session:
        assert forget_old_uses(session, DEVICE, keep=100) == 0
        assert forget_old_uses(session, DEVICE, keep=60) == 50
        assert forget_old_uses(session, "other", keep=0) == 0
    assert ask(store, "aten::op3")["aten::op3"] == tuple(f"t{number}" for number in range(5, 10))


def test_the_rarest_operators_are_told_first_and_the_commonest_only_counted(store: Store) -> None:
    run_id = arrive(store)
    note(store, run_id, *((f"t{number}", ["aten::common"]) for number in range(9)), ("t1", ["aten::rare"]))
    told = asked(store, "aten::common.out", "aten::rare", limit=5).operators
    assert [(uses.operator, uses.tests, uses.total) for uses in told] == [
        ("aten::rare", ("t1",), 1),
        ("aten::common", (), 9),
    ]
    assert len(ask(store, "aten::common", "aten::rare", limit=10)["aten::common"]) == 9


def test_a_base_too_long_for_an_index_is_left_out(store: Store) -> None:
    run_id = arrive(store)
    note(store, run_id, ("\U0001f600" * 900, ["aten::add"]), ("t", ["aten::add"]))
    assert ask(store, "aten::add") == {"aten::add": ("t",)}
    assert get_run(store, run_id).id == run_id
