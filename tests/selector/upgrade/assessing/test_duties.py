"""Every rule says who has to look at a test, and why: by what the manifests say about it and what became of it."""

from __future__ import annotations

import pytest

from selector.types import Mode
from selector.upgrade.assessing.duties import Duties, Verdict
from selector.upgrade.assessing.governing import Governing
from selector.upgrade.assessing.side import Side
from selector.upgrade.types import (
    ChangedTest,
    Duty,
    Evidence,
    OpInfoAspect,
    OpInfoChange,
    OpInfoDifference,
    TestChange,
)
from tests.selector.upgrade.sides import CLASS, FILE, changed, loaded, named, side, things

ENTRIES = """
- names: [test_required, test_over_ops]
- names: [test_strict]
  mode: xfail_strict
- names: [test_excused]
  mode: xfail
- names: [test_skipped]
  mode: skip
- names: ["test_taken_in_.*"]
"""
TESTS = (
    "def test_required(self, device): self.assertTrue(frobnicate(device, 1))",
    "def test_strict(self, device): ...",
    "def test_excused(self, device): ...",
    "def test_skipped(self, device): ...",
    "def test_unlisted(self, device): ...",
    "@ops(op_db)\ndef test_over_ops(self, device, dtype, op): ...",
)
SAME = OpInfoDifference((), 1, 1)


def verdict(
    one: ChangedTest,
    *,
    entries: str | None = ENTRIES,
    unlisted: str = "skip",
    base: Side | None = None,
    head: Side | None = None,
    operators: OpInfoDifference = SAME,
    more: str = "",
) -> Verdict | None:
    before = base or side(things(*TESTS), {"add": "float16"})
    after = head or side(things(*TESTS), {"add": "float16"})
    governing = Governing(loaded(entries, unlisted, more) if entries is not None else None)
    return Duties(governing, before, after, operators, "spyre").verdict(one)


def duty(one: ChangedTest) -> Duty | None:
    found = verdict(one)
    return found.duty if found is not None else None


@pytest.mark.parametrize(
    "change",
    [TestChange.REMOVED, TestChange.MOVED, TestChange.RENAMED, TestChange.BODY, TestChange.DECORATORS],
)
@pytest.mark.parametrize("name", ["test_required", "test_excused", "test_skipped"])
def test_what_is_governed_and_another_test_now_must_be_assessed(change: TestChange, name: str) -> None:
    """Whatever its mode: a skip of a test that was rewritten may be needless."""
    now = named(name, file="test/test_elsewhere.py") if change is TestChange.MOVED else named(name)
    assert duty(ChangedTest(now, (change,), former=named(name))) is Duty.MUST


def test_a_test_that_came_from_a_file_in_no_manifest_is_new_to_the_manifests() -> None:
    came = ChangedTest(named("test_unlisted"), (TestChange.MOVED,), former=named("test_x", file="test/test_out.py"))
    one = verdict(came)
    assert one is not None
    assert (one.duty, one.suggested) == (Duty.NEW, Mode.SKIP)
    assert one.reason.startswith("it came in from test/test_out.py, and no entry names it")


@pytest.mark.parametrize(
    ("entry", "changes", "confidence", "expected"),
    [
        ("test_required", (TestChange.MOVED,), 1.0, Duty.NOTHING),
        ("TestThings::test_required", (TestChange.MOVED,), 1.0, Duty.MUST),
        ("test_required", (TestChange.MOVED,), 0.7, Duty.MUST),
        ("test_required", (TestChange.MOVED, TestChange.BODY), 1.0, Duty.MUST),
    ],
)
def test_a_move_that_the_entry_follows_asks_for_nothing(
    entry: str, changes: tuple[TestChange, ...], confidence: float, expected: Duty
) -> None:
    """In the same file by a name without a class, and nothing else of it changed."""
    moved = ChangedTest(named("test_required", cls="TestNew"), changes, (), named("test_required"), confidence)
    one = verdict(moved, entries=f"- names: ['{entry}']")
    assert one is not None
    assert one.duty is expected


def test_a_reason_names_what_changed_around_the_test() -> None:
    symbols = ("make_tensor", "fill", "make_tensor", "a", "b")
    evidence = tuple(Evidence(TestChange.HELPER, symbol, "differs") for symbol in symbols)
    one = verdict(ChangedTest(named("test_required"), (TestChange.HELPER,), evidence))
    assert one is not None
    assert "another (make_tensor, fill, a and 1 more); m.yaml:6" in one.reason


def test_another_helper_is_for_those_that_run() -> None:
    assert duty(changed("test_required", TestChange.HELPER)) is Duty.MUST
    assert duty(changed("test_excused", TestChange.HELPER)) is Duty.MUST
    assert duty(changed("test_skipped", TestChange.HELPER)) is Duty.NOTHING


def test_other_code_under_test_is_for_those_held_to_an_outcome() -> None:
    assert duty(changed("test_required", TestChange.CODE)) is Duty.SHOULD
    assert duty(changed("test_strict", TestChange.CODE)) is Duty.SHOULD
    assert duty(changed("test_excused", TestChange.CODE)) is Duty.NOTHING
    assert duty(changed("test_skipped", TestChange.CODE)) is Duty.NOTHING


def test_a_test_that_did_not_change_asks_for_nothing() -> None:
    assert duty(changed("test_required", TestChange.UNCHANGED)) is Duty.NOTHING


def test_an_unlisted_test_is_nobodys_unless_its_file_holds_it_to_an_outcome() -> None:
    one = changed("test_unlisted", TestChange.BODY)
    skipped, required = verdict(one), verdict(one, unlisted="mandatory_success")
    assert skipped is not None
    assert skipped.duty is Duty.NOTHING
    assert required is not None
    assert required.duty is Duty.MUST
    assert "m.yaml:3: unlisted tests are mandatory_success" in required.reason


def test_a_test_of_a_file_that_no_manifest_lists_is_not_even_mentioned() -> None:
    assert verdict(ChangedTest(named("test_x", file="test/test_other.py"), (TestChange.BODY,))) is None


def test_decorators_for_upstreams_own_devices_are_not_seen() -> None:
    after = side(things("@skipCUDAIfNoMagma\ndef test_required(self, device): ..."))
    one = verdict(changed("test_required", TestChange.DECORATORS), head=after)
    assert one is not None
    assert one.duty is Duty.NOTHING
    assert "only decorators changed that the device does not see" in one.reason


def test_below_decorators_that_are_not_seen_the_next_change_counts() -> None:
    after = side(things("@expectedFailureMPS\ndef test_required(self, device): ..."))
    one = verdict(changed("test_required", TestChange.DECORATORS, TestChange.CODE), head=after)
    assert one is not None
    assert (one.duty, one.change) == (Duty.SHOULD, TestChange.CODE)


def test_a_new_test_that_a_pattern_takes_in_must_be_assessed() -> None:
    one = verdict(changed("test_taken_in_now", TestChange.ADDED))
    assert one is not None
    assert one.duty is Duty.MUST
    assert "governed already; m.yaml:13: mandatory_success" in one.reason


def test_a_new_test_gets_the_mode_of_the_one_it_is_like() -> None:
    like = "def test_new(self, device): self.assertTrue(frobnicate(device, 1))"
    one = verdict(changed("test_new", TestChange.ADDED), head=side(things(*TESTS, like)))
    assert one is not None
    assert (one.duty, one.suggested) == (Duty.NEW, Mode.MANDATORY_SUCCESS)
    assert "words with test_required (m.yaml:6: mandatory_success)" in one.reason


def test_a_new_test_like_none_is_proposed_to_be_skipped() -> None:
    odd = "def test_new(self, device): self.quite(something.else_)"
    one = verdict(changed("test_new", TestChange.ADDED), head=side(things(*TESTS, odd)))
    assert one is not None
    assert (one.duty, one.suggested) == (Duty.NEW, Mode.SKIP)
    assert "no governed test of the file is like it" in one.reason


def test_a_new_test_kept_to_another_device_asks_for_nothing() -> None:
    kept = "@onlyCUDA\ndef test_new(self, device): ..."
    one = verdict(changed("test_new", TestChange.ADDED), head=side(things(*TESTS, kept)))
    assert one is not None
    assert one.duty is Duty.NOTHING


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (f"instantiate_device_type_tests({CLASS}, globals())", Duty.NEW),
        (f"only_for = ('cuda',)\ninstantiate_device_type_tests({CLASS}, globals(), only_for=only_for)", None),
        ("", None),
    ],
)
def test_a_new_file_matters_when_it_makes_tests_for_the_device(end: str, expected: Duty | None) -> None:
    new = "test/test_new.py"
    after = side({FILE: things(*TESTS), new: things("def test_x(self, device): ...", end=end)})
    one = verdict(ChangedTest(named("test_x", file=new), (TestChange.ADDED,)), head=after)
    assert (one.duty if one is not None else None) is expected


def test_a_new_test_of_a_file_that_was_left_out_before_is_left_out_too() -> None:
    other = "test/test_other.py"
    both = side({FILE: things(*TESTS), other: things("def test_x(self, device): ...")})
    assert verdict(ChangedTest(named("test_x", file=other), (TestChange.ADDED,)), base=both, head=both) is None


@pytest.mark.parametrize(
    ("aspects", "expected"),
    [((OpInfoAspect.DTYPES,), Duty.SHOULD), ((OpInfoAspect.ELSEWHERE,), Duty.NOTHING)],
)
def test_another_entry_of_an_operator_is_for_the_tests_that_run_over_it(
    aspects: tuple[OpInfoAspect, ...], expected: Duty
) -> None:
    operators = OpInfoDifference((OpInfoChange("add", TestChange.BODY, aspects),), 1, 1)
    one = verdict(changed("test_over_ops", TestChange.UNCHANGED), operators=operators)
    assert one is not None
    assert one.duty is expected
    assert ("add (dtypes)" in one.reason) is (expected is Duty.SHOULD)


def test_an_operator_that_the_device_does_not_have_is_no_reason() -> None:
    operators = OpInfoDifference((OpInfoChange("add", TestChange.BODY, (OpInfoAspect.DTYPES,)),), 1, 1)
    listed = "global:\n  supported_ops:\n    - name: mul"
    one = verdict(changed("test_over_ops", TestChange.UNCHANGED), operators=operators, more=listed)
    assert one is not None
    assert one.duty is Duty.NOTHING


def test_without_manifests_every_test_counts_as_required() -> None:
    body = verdict(changed("test_unlisted", TestChange.BODY), entries=None)
    new = verdict(changed("test_unlisted", TestChange.ADDED), entries=None)
    assert body is not None
    assert (body.duty, body.reason) == (Duty.MUST, "its body is another")
    assert new is not None
    assert (new.duty, new.suggested) == (Duty.NEW, None)
