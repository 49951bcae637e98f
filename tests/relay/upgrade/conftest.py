"""A report as the parts of the selector make it, small, with one of everything."""

from __future__ import annotations

import pytest

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

_FILE = "test/test_nn.py"
_HELPER = Evidence(
    *(TestChange.HELPER, "make_input", "make_input draws from another range"),
    *(Place("test/common.py", 4, 9), Place("test/common.py", 5, 11)),
    ("TestPool.test_max", "make_input"),
)
_BODY = Evidence(TestChange.BODY, "test_max", "two lines differ", Place(_FILE, 10, 14), Place(_FILE, 12, 17))
_ENTRY = Governed("nn.yaml:7", Mode.MANDATORY_SUCCESS, 12, 14, "two dtypes more")


@pytest.fixture
def report() -> UpgradeReport:
    """Four tests, one of each duty, and an operator, a variant, an outcome and a summary."""
    body = ChangedTest(BaseTest(_FILE, "TestPool", "test_max"), (TestChange.BODY, TestChange.HELPER), (_BODY, _HELPER))
    helper = ChangedTest(BaseTest(_FILE, "TestPool", "test_avg"), (TestChange.HELPER,), (_HELPER,))
    former = BaseTest(_FILE, "TestNN", "test_pad")
    moved = ChangedTest(BaseTest("test/nn/test_pad.py", "TestPad", "test_pad"), (TestChange.MOVED,), (), former, 0.9)
    same = ChangedTest(BaseTest(_FILE, "", "test_alone"), (TestChange.UNCHANGED,))
    return UpgradeReport(
        base="v2.13.0",
        head="v2.14.0",
        device="spyre",
        difference=TestDifference((moved, same, helper, body), 2, 3, ("test/odd.py does not parse",)),
        operators=OpInfoDifference(
            (
                OpInfoChange(
                    *("nn.functional.max_pool2d", TestChange.BODY, (OpInfoAspect.DTYPES,)),
                    *(frozenset({"float32"}), frozenset({"float32", "bfloat16"}), (_BODY,)),
                ),
            ),
            *(600, 601),
        ),
        findings=(
            Finding(body, Duty.MUST, "nn.yaml:7 asks for it, and its body changed", (_ENTRY,), cause="make_input"),
            Finding(helper, Duty.SHOULD, "what it tests changed", (_ENTRY,), cause="make_input"),
            Finding(moved, Duty.NEW, "no entry names it", (), Mode.SKIP, "TestPad"),
            Finding(same, Duty.NOTHING, "unchanged"),
        ),
        funnel=(
            FunnelStep("all variants", 4_000, "variants", "an estimate"),
            FunnelStep("must assess", 1, "tests", ""),
            FunnelStep("causes", 1, "causes", "one look settles each"),
        ),
        variants=(NewVariant(BaseTest(_FILE, "TestPool", "test_max"), "max_pool2d", ("bfloat16",), _ENTRY),),
        notes=("no manifest names test/nn/test_pad.py",),
        summaries=(AreaSummary("test/nn", "Padding moved to a file of its own.", "a-model"),),
        outcomes=OutcomeDifference(
            (
                UpgradeOutcome(
                    id=f"{_FILE}::TestPoolSPYRE::test_max_spyre_float32",
                    test=BaseTest(_FILE, "TestPool", "test_max"),
                    kind=OutcomeKind.BROKEN,
                    before="passed",
                    after="failed",
                    reason="passed on v2.13.0, failed on v2.14.0",
                    detail="AssertionError: 1 != 2",
                ),
            ),
            *(10, 1, 2),
        ),
        origin=Origin("https://github.com/pytorch/pytorch", "a" * 40, "b" * 40),
        seconds=12.5,
    )
