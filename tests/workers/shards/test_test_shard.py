"""Which attempts a test gets, on which tree, and when its result goes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from relay.contract import Attempt, Expected, Observation, TestOrder, TestResult, Tree
from tests.workers.scripted_runner import BASE, HEAD, C, F, M, P, S, ScriptedRunner, T
from workers.runner.types import RunnerTree, WantedTest
from workers.shards.base_results import BaseResults, NothingKnown
from workers.shards.test_shard import ALONE_LIMIT, ALONE_SECONDS, ShardRun, recordable_operators

FILE = "test/test_a.py"


def order(name: str, expected: Expected = Expected.MANDATORY_SUCCESS, file: str = FILE) -> TestOrder:
    return TestOrder(id=f"{file}::TestASPYRE::{name}", file=file, expected=expected)


class Shard:
    """A shard over a scripted runner, and what it published."""

    def __init__(
        self,
        runner: ScriptedRunner,
        should_stop: Callable[[], bool] = lambda: False,
        base_results: BaseResults | None = None,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.published: list[TestResult] = []
        self.base_made = 0
        self.words: list[str] = []
        self.shard = ShardRun(runner, HEAD, self._base, self.published.append, should_stop, self.words.append,
                              base_results or NothingKnown(), clock)  # fmt: skip

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


@pytest.mark.parametrize("bad", [F, C, T])
@pytest.mark.parametrize("second", [P, F])
def test_a_failure_on_base_is_confirmed_before_it_excuses_anything(bad: Observation, second: Observation) -> None:
    """A base that fails once could be flaky, which only a second look shows."""
    shard = Shard(scripted(test_x=((bad,), (bad, second))))
    assert shard.run(order("test_x")) == {
        "test_x": [("head", 1, bad), ("head", 2, bad), ("base", 1, bad), ("base", 2, second)]
    }


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
        ("base", FILE, (y,)),
    ]


def test_failures_go_alone_up_to_a_number_and_missing_tests_together() -> None:
    missing = {f"test_m{number}": ((M,), (P,)) for number in range(3)}
    failing = {f"test_f{number}": ((F,), (P,)) for number in range(ALONE_LIMIT + 2)}
    runner = scripted(**missing, **failing)
    Shard(runner).run(*(order(name) for name in {**missing, **failing}))
    assert [len(ids) for _, _, ids in runner.runs] == [ALONE_LIMIT + 5, *[1] * ALONE_LIMIT, 5, ALONE_LIMIT + 5]


def test_failures_go_alone_up_to_a_time() -> None:
    """Files whose import takes long are not imported for each of their failing tests."""
    runner = scripted(**{f"test_f{number}": ((F,), (P,)) for number in range(6)})
    Shard(runner, clock=lambda: len(runner.runs) * ALONE_SECONDS / 3).run(*(order(f"test_f{n}") for n in range(6)))
    assert [len(ids) for _, _, ids in runner.runs] == [6, 1, 1, 1, 3, 6]


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
        def run(self, tree, file, tests, on_outcome, should_stop) -> None:  # type: ignore[no-untyped-def]  # as the base
            from workers.runner.types import TestOutcome

            on_outcome(TestOutcome(tests[0].id, P, -1.0, "x\0" * 20_000))

    shard = Shard(Talkative())
    shard.run(order("test_x"))
    attempt = shard.published[0].attempts[0]
    assert len(attempt.detail) == 8_000
    assert "\0" not in attempt.detail
    assert attempt.duration_s == 0


class Memory:
    """What is known of base, by test name, and what was remembered."""

    def __init__(self, **known: Sequence[Observation]) -> None:
        self._known = {
            f"{FILE}::TestASPYRE::{name}": tuple(
                Attempt(tree=Tree.BASE, number=number, observation=seen, duration_s=0, reused=True)
                for number, seen in enumerate(observations, start=1)
            )
            for name, observations in known.items()
        }
        self.remembered: dict[str, list[Observation]] = {}

    def known(self, tests: Sequence[str]) -> dict[str, tuple[Attempt, ...]]:
        return {test: attempts for test, attempts in self._known.items() if test in tests}

    def remember(self, seen: Mapping[str, Sequence[Attempt]]) -> None:
        assert all(tried.tree is Tree.BASE and not tried.reused for attempts in seen.values() for tried in attempts)
        self.remembered |= {
            test.split("::")[-1]: [tried.observation for tried in attempts] for test, attempts in seen.items()
        }


@pytest.mark.parametrize("known", [(P,), (F, F), (F, P)])
def test_what_is_known_of_base_is_not_run_there_again(known: Sequence[Observation]) -> None:
    """The attempts are marked, and base's tree is not even made."""
    memory = Memory(test_x=known)
    shard = Shard(scripted(test_x=((F,), (P,))), base_results=memory)
    based = [("base", number, seen) for number, seen in enumerate(known, start=1)]
    assert shard.run(order("test_x")) == {"test_x": [("head", 1, F), ("head", 2, F), *based]}
    assert [tried.reused for tried in shard.published[0].attempts] == [False, False, *[True] * len(known)]
    assert (shard.base_made, memory.remembered) == (0, {})


def test_what_is_seen_on_base_is_remembered_and_only_that() -> None:
    memory = Memory(test_k=(F, F))
    runner = scripted(test_k=((F,), ()), test_x=((F,), (P,)), test_y=((F,), (F,)), test_z=((F, P), ()))
    Shard(runner, base_results=memory).run(*(order(f"test_{name}") for name in "kxyz"), order("test_fine"))
    assert memory.remembered == {"test_x": [P], "test_y": [F, F]}


@pytest.mark.parametrize(
    ("known", "head", "attached"),
    [((F, F), P, True), ((F, P), P, False), ((P,), P, False), ((F, F), S, False), ((), P, False)],
)
def test_a_pass_is_told_together_with_the_failure_known_of_base(
    known: Sequence[Observation], head: Observation, attached: bool
) -> None:
    """That is how the relay comes to say `fixed`; no test is run on base for it."""
    shard = Shard(scripted(test_x=((head,), ())), base_results=Memory(**({"test_x": known} if known else {})))
    based = [("base", number, seen) for number, seen in enumerate(known, start=1)] if attached else []
    assert shard.run(order("test_x")) == {"test_x": [("head", 1, head), *based]}


def test_an_expected_failure_that_passes_is_not_compared_with_base() -> None:
    shard = Shard(scripted(test_x=((P,), ())), base_results=Memory(test_x=(F, F)))
    assert shard.run(order("test_x", Expected.XFAIL)) == {"test_x": [("head", 1, P)]}


def test_a_manifests_wishes_reach_the_runner() -> None:
    """Isolation and limits hold in every attempt."""
    seen: list[WantedTest] = []

    class Attentive(ScriptedRunner):
        def run(self, tree, file, tests, on_outcome, should_stop) -> None:  # type: ignore[no-untyped-def]  # as the base
            seen.extend(tests)
            super().run(tree, file, tests, on_outcome, should_stop)

    wished = order("test_x").model_copy(update={"isolate": True, "timeout_s": 3.0})
    Shard(Attentive({("head", wished.id): (F,), ("base", wished.id): (P,)})).run(wished, order("test_y"))
    assert [(test.id, test.isolate, test.timeout_s) for test in seen if test.id == wished.id] == [
        (wished.id, True, 3.0)
    ] * 3
    assert {(test.isolate, test.timeout_s) for test in seen if test.id != wished.id} == {(False, None)}


def test_the_operators_of_the_last_attempt_on_head_are_told() -> None:
    class Watching(ScriptedRunner):
        def run(self, tree, file, tests, on_outcome, should_stop) -> None:  # type: ignore[no-untyped-def]  # as the base
            number = len(self.runs)
            told = (f"aten::op{number}", "", "x" * 201, "a\0b", f"aten::op{number}")
            super().run(tree, file, tests, lambda outcome: on_outcome(replace(outcome, operators=told)), should_stop)

    shard = Shard(Watching({("head", order("test_x").id): (F,)}))
    shard.run(order("test_x"))
    assert shard.published[0].operators == ("aten::op1",)


def test_no_more_operators_than_the_contract_takes() -> None:
    assert len(recordable_operators(f"aten::op{number}" for number in range(2_000))) == 500
