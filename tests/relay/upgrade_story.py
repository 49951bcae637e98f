"""An upgrade report of any size, with one of everything, for tests of what a relay keeps and shows. The same size gives
the same report."""

from __future__ import annotations

from relay.upgrade.writing import report_json
from selector.types import BaseTest, Mode
from selector.upgrade.types import (
    AreaSummary,
    ChangedTest,
    Duty,
    Evidence,
    Finding,
    FunnelStep,
    Governed,
    NewVariant,
    OpInfoAspect,
    OpInfoChange,
    OpInfoDifference,
    Origin,
    OutcomeDifference,
    OutcomeKind,
    Place,
    TestChange,
    TestDifference,
    UpgradeOutcome,
    UpgradeReport,
)

BASE_COMMIT, HEAD_COMMIT = "a" * 40, "b" * 40
_HELPERS = ("make_tensor", "sample_inputs_linalg", "toleranceOverride", "onlyNativeDeviceTypes", "freeze_rng_state")
#: By turns; two of three tests of a release are as they were.
_CHANGES = (TestChange.BODY, TestChange.HELPER, TestChange.CODE, TestChange.DECORATORS, TestChange.MOVED)
_DUTIES = (Duty.MUST, Duty.SHOULD, Duty.SHOULD, Duty.MUST, Duty.MUST)


def upgrade_text(tests: int = 60, **facts: str) -> bytes:
    """A report's JSON; see `upgrade_report`."""
    return report_json(upgrade_report(tests, **facts))


def upgrade_report(
    tests: int = 60, *, base: str = "v2.13.0", head: str = "v2.14.0", device: str = "spyre"
) -> UpgradeReport:
    """A report about so many tests; of six in a row one is new, one changed in one of five ways, four unchanged."""
    changed = tuple(_changed(number) for number in range(tests))
    findings = tuple(_finding(number, test) for number, test in enumerate(changed))
    counts = {duty: sum(it.duty is duty for it in findings) for duty in Duty}
    pressing = {it.cause for it in findings if it.duty in (Duty.MUST, Duty.SHOULD)}
    return UpgradeReport(
        base=base,
        head=head,
        device=device,
        difference=TestDifference(changed, 812, 836, ("test/odd_syntax.py could not be parsed in either tree.",)),
        operators=OpInfoDifference(tuple(map(_operator, range(7))), 672, 680),
        findings=findings,
        funnel=(
            FunnelStep("all variants", tests * 96, "variants", "Every test with every operator and dtype, estimated."),
            FunnelStep("on the device", tests * 11, "variants", "What the manifests let run, estimated."),
            FunnelStep("tests", tests, "tests", "Without operators and dtypes."),
            FunnelStep("changed", sum(it.change is not TestChange.UNCHANGED for it in changed), "tests", ""),
            FunnelStep("must assess", counts[Duty.MUST], "tests", "Governed and changed."),
            FunnelStep("should assess", counts[Duty.SHOULD], "tests", "What they test changed."),
            FunnelStep("causes", len(pressing), "causes", "One look at each settles its tests."),
        ),
        variants=tuple(
            NewVariant(changed[0].test, f"op_{number}", ("bfloat16", "float16"), _entry(number)) for number in range(3)
        ),
        notes=("No manifest names test/new_area.py.",),
        summaries=(AreaSummary("test/test_linalg.py", "Checks of sizes come earlier & <now> raise.", "a-model"),),
        outcomes=OutcomeDifference((_outcome(changed[0].test),), *(41, 1, 2)),
        origin=Origin("https://github.com/pytorch/pytorch", BASE_COMMIT, HEAD_COMMIT),
        seconds=41.5,
    )


def _changed(number: int) -> ChangedTest:
    file = f"test/test_area_{number // 40}.py"
    test = BaseTest(file, f"TestArea{number // 20}", f"test_case_{number}")
    if number % 6 == 5:
        return ChangedTest(test, (TestChange.ADDED,), (_evidence(number, TestChange.ADDED, file),))
    if number % 6:
        return ChangedTest(test, (TestChange.UNCHANGED,))
    change = _CHANGES[number // 6 % len(_CHANGES)]
    moved = change is TestChange.MOVED
    former = BaseTest("test/test_before.py", test.cls, test.name) if moved else None
    return ChangedTest(test, (change,), (_evidence(number, change, file),), former, 0.83 if moved else 1.0)


def _evidence(number: int, change: TestChange, file: str) -> Evidence:
    if change in (TestChange.HELPER, TestChange.CODE):
        name = _helper(number)
        place = f"torch/testing/_internal/{name}.py"
        text = f"{name} draws from another range"
        chain = (f"test_case_{number}", "self.check", name)
        return Evidence(change, name, text, Place(place, 10, 24), Place(place, 12, 31), chain)
    base = None if change is TestChange.ADDED else Place(file, number + 1, number + 9)
    return Evidence(
        change, f"test_case_{number}", f"{number % 5 + 1} lines differ", base, Place(file, number + 4, number + 15)
    )


def _helper(number: int) -> str:
    return _HELPERS[number // 6 % len(_HELPERS)]


def _entry(number: int) -> Governed:
    return Governed(f"test_area.yaml:{number % 90 + 3}", Mode.MANDATORY_SUCCESS, 12, 14, "two dtypes more")


def _finding(number: int, changed: ChangedTest) -> Finding:
    if changed.change is TestChange.UNCHANGED:
        return Finding(changed, Duty.NOTHING, "unchanged")
    if changed.change is TestChange.ADDED:
        return Finding(changed, Duty.NEW, "no entry names it", (), Mode.SKIP, f"new in {changed.test.file}")
    duty = _DUTIES[number // 6 % len(_DUTIES)]
    return Finding(
        changed, duty, f"test_area.yaml:{number % 90 + 3} asks for it", (_entry(number),), None, _helper(number)
    )


def _operator(number: int) -> OpInfoChange:
    change = (TestChange.ADDED, TestChange.REMOVED, TestChange.BODY)[number % 3]
    before, after = frozenset({"float32"}), frozenset({"bfloat16", "float32"})
    return OpInfoChange(
        *(f"nn.functional.op_{number}", change, (OpInfoAspect.DTYPES,) if change is TestChange.BODY else ()),
        *(
            frozenset() if change is TestChange.ADDED else before,
            frozenset() if change is TestChange.REMOVED else after,
        ),
    )


def _outcome(test: BaseTest) -> UpgradeOutcome:
    return UpgradeOutcome(
        id=f"{test.file}::{test.cls}SPYRE::{test.name}_spyre_float32",
        test=test,
        kind=OutcomeKind.BROKEN,
        before="passed",
        after="failed",
        reason="passed on v2.13.0, failed on v2.14.0",
        detail="AssertionError: Tensor-likes are not close!\n\nMismatched elements: 3 / 9 (33.3%)",
    )
