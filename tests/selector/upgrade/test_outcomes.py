"""Results on both releases, side by side: what the upgrade broke, and what only asks for something else now."""

from __future__ import annotations

import pytest

from selector.manifests.authoring.results import Naming, Observation, ObservedTest
from selector.types import BaseTest
from selector.upgrade.outcomes import Results, compare_outcomes
from selector.upgrade.types import (
    ChangedTest,
    OpInfoAspect,
    OpInfoChange,
    OpInfoDifference,
    OutcomeDifference,
    OutcomeKind,
    TestChange,
    TestDifference,
)

_FILE = "test/test_a.py"
_TEST = BaseTest(_FILE, "TestA", "test_add")
_NAMES = Naming("spyre", lambda _: frozenset({"test_add", "test_plus"}))


def _seen(word: str, method: str = "test_add_spyre_float32", cls: str = "TestASPYRE") -> ObservedTest:
    test, known = _NAMES.identify(_FILE, [cls], method)
    return ObservedTest(test, Observation(word), detail=f"why it {word}", base_known=known)


def _compared(
    before: list[ObservedTest],
    after: list[ObservedTest],
    changed: ChangedTest | None = None,
    operators: tuple[OpInfoChange, ...] = (),
) -> OutcomeDifference:
    tests = TestDifference((changed or ChangedTest(_TEST, (TestChange.UNCHANGED,)),), 1, 1)
    databases = OpInfoDifference(operators, len(operators), len(operators))
    return compare_outcomes(Results("2.13", before), Results("2.14", after), tests, databases, "spyre")


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("passed", "failed", OutcomeKind.BROKEN),
        ("passed", "skipped", OutcomeKind.BROKEN),
        ("failed", "crashed", OutcomeKind.BROKEN),
        ("skipped", "timed_out", OutcomeKind.BROKEN),
        ("failed", "passed", OutcomeKind.FIXED),
        ("skipped", "passed", OutcomeKind.FIXED),
    ],
)
def test_a_test_that_is_the_same_was_broken_or_fixed(before: str, after: str, kind: OutcomeKind) -> None:
    (outcome,) = _compared([_seen(before)], [_seen(after)]).outcomes
    assert outcome.kind is kind
    assert outcome.id == "test/test_a.py::TestASPYRE::test_add_spyre_float32"
    assert outcome.reason == f"{outcome.before} on 2.13, {outcome.after} on 2.14"
    assert outcome.detail == f"why it {after}"


@pytest.mark.parametrize(
    ("before", "after"), [("passed", "passed"), ("failed", "failed"), ("crashed", "timed_out"), ("failed", "skipped")]
)
def test_what_did_not_come_nearer_to_passing_nor_further_is_the_same(before: str, after: str) -> None:
    difference = _compared([_seen(before)], [_seen(after)])
    assert (difference.outcomes, difference.same, difference.count(OutcomeKind.SAME)) == ((), 1, 1)


@pytest.mark.parametrize("change", [TestChange.BODY, TestChange.DECORATORS, TestChange.HELPER])
@pytest.mark.parametrize(("before", "after"), [("passed", "failed"), ("failed", "passed")])
def test_another_end_of_another_test_says_that_its_meaning_changed(change: TestChange, before: str, after: str) -> None:
    (outcome,) = _compared([_seen(before)], [_seen(after)], ChangedTest(_TEST, (change,))).outcomes
    assert outcome.kind is OutcomeKind.MEANING
    assert outcome.reason.endswith(f"; changed: {change}")


def test_changed_code_under_test_does_not_change_what_a_test_asks_for() -> None:
    (outcome,) = _compared([_seen("passed")], [_seen("failed")], ChangedTest(_TEST, (TestChange.CODE,))).outcomes
    assert outcome.kind is OutcomeKind.BROKEN


def test_an_operator_whose_entry_changed_asks_for_something_else() -> None:
    method = "test_add_nn_functional_pad_spyre_float32"
    entry = OpInfoChange("nn.functional.pad", TestChange.BODY, (OpInfoAspect.SAMPLES,))
    before, after = [_seen("passed", method), _seen("passed")], [_seen("failed", method), _seen("failed")]
    broken, meaning = sorted(_compared(before, after, operators=(entry,)).outcomes, key=lambda it: it.kind)
    assert (broken.kind, broken.id.rpartition("::")[2]) == (OutcomeKind.BROKEN, "test_add_spyre_float32")
    assert meaning.reason.endswith("; the operator's entry changed: sample inputs")


def test_an_operator_whose_entry_changed_for_other_devices_asks_for_the_same() -> None:
    method = "test_add_nn_functional_pad_spyre_float32"
    entry = OpInfoChange("nn.functional.pad", TestChange.BODY, (OpInfoAspect.ELSEWHERE,))
    (outcome,) = _compared([_seen("passed", method)], [_seen("failed", method)], operators=(entry,)).outcomes
    assert outcome.kind is OutcomeKind.BROKEN


@pytest.mark.parametrize("side", [0, 1])
def test_a_test_that_ended_in_two_ways_on_one_release_is_flaky(side: int) -> None:
    twice, once = [_seen("failed"), _seen("passed")], [_seen("passed")]
    (outcome,) = _compared(*((twice, once) if side == 0 else (once, twice))).outcomes
    assert outcome.kind is OutcomeKind.FLAKY
    assert "failed and passed on" in outcome.reason
    assert "not alike in 2 attempts" in outcome.reason


def test_a_renamed_test_is_followed_to_its_new_name() -> None:
    renamed = ChangedTest(BaseTest(_FILE, "TestB", "test_plus"), (TestChange.RENAMED,), former=_TEST, confidence=0.9)
    after = [_seen("failed", "test_plus_spyre_float32", "TestBSPYRE")]
    (outcome,) = _compared([_seen("passed")], after, renamed).outcomes
    assert outcome.kind is OutcomeKind.BROKEN
    assert outcome.former == "test/test_a.py::TestASPYRE::test_add_spyre_float32"
    assert outcome.id == "test/test_a.py::TestBSPYRE::test_plus_spyre_float32"


def test_what_ran_on_one_release_only_is_counted_and_not_judged() -> None:
    before = [_seen("passed"), _seen("passed", "test_plus_spyre")]
    difference = _compared(before, [_seen("passed"), _seen("failed", "test_add_spyre_int8")])
    assert (difference.outcomes, difference.same, difference.only_before, difference.only_after) == ((), 1, 1, 1)


def test_the_most_pressing_comes_first() -> None:
    words = [("failed", "passed"), ("passed", "failed")]
    before = [_seen(was, f"test_add_spyre_{n}") for n, (was, _) in enumerate(words)]
    after = [_seen(now, f"test_add_spyre_{n}") for n, (_, now) in enumerate(words)]
    assert [it.kind for it in _compared(before, after).outcomes] == [OutcomeKind.BROKEN, OutcomeKind.FIXED]
