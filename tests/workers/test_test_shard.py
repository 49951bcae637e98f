"""Which attempts a test gets, on which tree, and when its result goes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from relay.contract import Expected, Observation, TestOrder, TestResult
from tests.workers.scripted_runner import BASE, HEAD, C, F, M, P, S, ScriptedRunner, T
from workers.runner.types import RunnerTree
from workers.test_shard import ALONE_LIMIT, ShardRun

FILE = "test/test_a.py"


def order(name: str, expected: Expected = Expected.MANDATORY_SUCCESS, file: str = FILE) -> TestOrder:
    return TestOrder(id=f"{file}::TestASPYRE::{name}", file=file, expected=expected)


class Shard:
    """A shard over a scripted runner, and what it published."""

    def __init__(self, runner: ScriptedRunner, should_stop: Callable[[], bool] = lambda: False) -> None:
        self.published: list[TestResult] = []
        self.base_made = 0
        self.words: list[str] = []
        self.shard = ShardRun(runner, HEAD, self._base, self.published.append, should_stop, self.words.append)

    def _base(self) -> RunnerTree:
        self.base_made += 1
        return BASE

    def run(self, *orders: TestOrder) -> dict[str, list[tuple[str, int, Observation]]]:
        self.shard.run(orders)
        return {
            result.id.split("::")[-1]: [(a.tree.value, a.number, a.observation) for a in result.attempts]
            for result in self.published
        }


def scripted(**tests: tuple[Sequence[Observation], Sequence[Observation]]) -> ScriptedRunner:
    """Observations on head and on base, by test name."""
    script = {}
    for name, (head, base) in tests.items():
        script["head", f"{FILE}::TestASPYRE::{name}"] = head
        script["base", f"{FILE}::TestASPYRE::{name}"] = base
    return ScriptedRunner(script)


@pytest.mark.parametrize("fine", [P, S])
def test_what_is_fine_is_run_once_and_base_is_not_made(fine: Observation) -> None:
    shard = Shard(scripted(test_x=((fine,), ())))
    assert shard.run(order("test_x")) == {"test_x": [("head", 1, fine)]}
    assert shard.base_made == 0


@pytest.mark.parametrize("bad", [F, C, T, M])
def test_every_failure_is_tried_again_and_compared_with_base(bad: Observation) -> None:
    shard = Shard(scripted(test_x=((bad,), (P,))))
    assert shard.run(order("test_x")) == {"test_x": [("head", 1, bad), ("head", 2, bad), ("base", 1, P)]}


def test_a_second_try_that_passes_needs_no_base() -> None:
    shard = Shard(scripted(test_x=((F, P), ())))
    assert shard.run(order("test_x")) == {"test_x": [("head", 1, F), ("head", 2, P)]}
    assert shard.base_made == 0


@pytest.mark.parametrize("expected", [Expected.XFAIL, Expected.XFAIL_STRICT])
def test_an_expected_failure_is_settled_at_once(expected: Expected) -> None:
    shard = Shard(scripted(test_x=((F,), ())))
    assert shard.run(order("test_x", expected)) == {"test_x": [("head", 1, F)]}
    assert shard.base_made == 0


@pytest.mark.parametrize("bad", [C, T, M])
def test_an_expected_failure_does_not_cover_worse_and_is_not_compared(bad: Observation) -> None:
    shard = Shard(scripted(test_x=((bad,), ())))
    assert shard.run(order("test_x", Expected.XFAIL)) == {"test_x": [("head", 1, bad), ("head", 2, bad)]}
    assert shard.base_made == 0


def test_a_test_is_tried_again_alone_and_compared_in_company() -> None:
    runner = scripted(test_x=((F,), (P,)), test_y=((C,), (F,)))
    Shard(runner).run(order("test_x"), order("test_y"), order("test_z"))
    x, y, z = (f"{FILE}::TestASPYRE::test_{name}" for name in "xyz")
    assert runner.runs == [
        ("head", FILE, (x, y, z)),
        ("head", FILE, (x,)),
        ("head", FILE, (y,)),
        ("base", FILE, (x, y)),
    ]


def test_missing_tests_and_many_failures_share_a_second_try() -> None:
    missing = {f"test_m{number}": ((M,), (P,)) for number in range(3)}
    failing = {f"test_f{number}": ((F,), (P,)) for number in range(ALONE_LIMIT + 1)}
    runner = scripted(**missing, **failing)
    Shard(runner).run(*(order(name) for name in {**missing, **failing}))
    assert [len(ids) for _, _, ids in runner.runs] == [ALONE_LIMIT + 4] * 3
    few = scripted(**missing, test_f=((F,), (P,)), test_g=((F,), (P,)))
    Shard(few).run(*(order(name) for name in [*missing, "test_f", "test_g"]))
    assert [len(ids) for _, _, ids in few.runs] == [5, 1, 4, 5]


def test_passing_results_do_not_wait_for_failing_ones() -> None:
    shard = Shard(scripted(test_x=((F,), (F,))))
    shard.run(order("test_x"), order("test_y"))
    assert [result.id.split("::")[-1] for result in shard.published] == ["test_y", "test_x"]


def test_files_are_run_one_after_the_other_and_said() -> None:
    shard = Shard(ScriptedRunner())
    shard.run(order("test_x"), order("test_y", file="test/test_b.py"), order("test_z"))
    assert shard.words == ["running test/test_a.py (1 of 2)", "running test/test_b.py (2 of 2)"]
    assert len(shard.published) == 3


def test_a_stop_ends_at_the_next_boundary_and_half_a_comparison_is_not_published() -> None:
    """Stopped after the second try on head: what is known of the failing test would look like its whole story."""
    runner = scripted(test_x=((F,), (P,)))
    shard = Shard(runner, lambda: len(runner.runs) >= 3)
    assert shard.run(order("test_x"), order("test_y")) == {"test_y": [("head", 1, P)]}


def test_a_stop_before_a_file_starts_nothing() -> None:
    runner = ScriptedRunner()
    assert Shard(runner, lambda: True).run(order("test_x")) == {}
    assert runner.runs == []


def test_a_test_the_runner_forgot_is_missing() -> None:
    """Planned = reported, whatever the runner does."""

    class Forgetful(ScriptedRunner):
        def run(self, *_: object) -> None:
            return None

    observations = Shard(Forgetful()).run(order("test_x"))
    assert observations == {"test_x": [("head", 1, M), ("head", 2, M), ("base", 1, M)]}


def test_details_are_cut_to_the_contract() -> None:
    class Talkative(ScriptedRunner):
        def run(self, tree, file, ids, on_outcome, should_stop) -> None:  # type: ignore[no-untyped-def]  # as the base
            from workers.runner.types import TestOutcome

            on_outcome(TestOutcome(ids[0], P, -1.0, "x\0" * 20_000))

    shard = Shard(Talkative())
    shard.run(order("test_x"))
    attempt = shard.published[0].attempts[0]
    assert len(attempt.detail) == 8_000
    assert "\0" not in attempt.detail
    assert attempt.duration_s == 0
