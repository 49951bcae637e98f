"""Every sentence of an upgrade report for people, as functions named after the situation."""

from __future__ import annotations

from collections.abc import Mapping

from selector.types import Mode
from selector.upgrade.types import (
    AreaSummary,
    ChangedTest,
    Duty,
    Finding,
    Governed,
    OpInfoChange,
    OpInfoDifference,
    OutcomeDifference,
    OutcomeKind,
    TestChange,
    UpgradeReport,
)

#: What each duty asks for, under its heading.
DUTIES = {
    Duty.MUST: "The manifests ask for these tests, and upstream changed them: does the device still do what they ask?",
    Duty.SHOULD: "The manifests ask for these tests, and upstream changed what they test.",
    Duty.NEW: "No entry of the manifests names these tests yet. The mode is proposed from tests that are like them.",
    Duty.NOTHING: "The manifests name these tests, and what changed asks for nothing.",
}
CHANGES = {
    TestChange.ADDED: "new",
    TestChange.REMOVED: "removed",
    TestChange.MOVED: "moved",
    TestChange.RENAMED: "renamed",
    TestChange.BODY: "body changed",
    TestChange.DECORATORS: "decorators changed",
    TestChange.HELPER: "a helper changed",
    TestChange.CODE: "code under test changed",
    TestChange.UNCHANGED: "unchanged",
}
OUTCOMES = {
    OutcomeKind.BROKEN: "ended better before, and the test is the same",
    OutcomeKind.MEANING: "ended otherwise, and the test itself changed: it may ask for something else",
    OutcomeKind.FLAKY: "did not end the same each time on one release",
    OutcomeKind.FIXED: "did not pass before and does now",
}


COMPARISON = "The whole comparison"
FUNNEL, STEP, LEFT = "Funnel", "Step", "Left"
RESULTS = "Results on both releases"
OPERATORS = "Operators that differ"
VARIANTS = "Generated tests that will appear"
SUMMARIES = "In a model's words"
NOTES = "Notes"


def numbered(heading: str, number: int) -> str:
    return f"{heading} ({number:,})"


def duty(which: Duty, tests: int, groups: int) -> str:
    """`Must assess (12 in 3 groups)`."""
    told = f"{tests:,} in {counted(groups, 'group')}" if tests else "0"
    return f"{which.value.capitalize()} ({told})"


def entries(difference: OpInfoDifference) -> str:
    return f"{counted(difference.before, 'entry')} before, {difference.after:,} after"


def title(report: UpgradeReport) -> str:
    return f"Upgrade {report.base} to {report.head} on {report.device}"


def counted(number: int, what: str) -> str:
    """`1 test`, `2,400 tests`; `what` is one of them."""
    plural = what if number == 1 else f"{what[:-1]}ies" if what.endswith("ry") else f"{what}s"
    return f"{number:,} {plural}"


def compared(report: UpgradeReport) -> str:
    difference = report.difference
    files = f"{difference.files_before:,} test files before, {difference.files_after:,} after"
    return f"{files}; {counted(len(difference.tests), 'test')} in either"


def changed_how(changed: ChangedTest) -> str:
    """`moved, body changed; was test/a.py::A::test_b (90 % sure)`."""
    words = ", ".join(CHANGES[change] for change in changed.changes)
    if changed.former is None:
        return words
    sure = "" if changed.confidence >= 1 else f" ({changed.confidence:.0%} sure)"
    return f"{words}; was {changed.former}{sure}"


def entry(governed: Governed) -> str:
    """`nn.yaml:7 mandatory_success, 12 variants before, 14 after; two dtypes more`."""
    before, after = governed.variants_before, governed.variants_after
    told = [f"{governed.provenance} {governed.mode}"]
    told += [f"{counted(before, 'variant')} before"] if before is not None else []
    told += (
        [f"{after:,} after" if before is not None else f"{counted(after, 'variant')} after"]
        if after is not None
        else []
    )
    return ", ".join(told) + (f"; {governed.note}" if governed.note else "")


def suggestion(finding: Finding) -> str:
    return "" if finding.suggested is None else f"proposed: {finding.suggested}"


def modes(found: list[tuple[Mode, int]]) -> str:
    """`proposed: skip for 12, xfail for 3`."""
    return "proposed: " + ", ".join(f"{mode} for {number:,}" for mode, number in found) if found else ""


def operators_differ(difference: OpInfoDifference) -> str:
    return f"operators: {len(difference.changes):,} of {counted(difference.after, 'entry')} differ"


def operator(change: OpInfoChange) -> str:
    """What differs of an operator's entry."""
    if change.change is TestChange.ADDED:
        return f"new, {_dtypes(change.dtypes_after)}"
    if change.change is TestChange.REMOVED:
        return "removed"
    parts = [aspect.value for aspect in change.aspects]
    gained, lost = change.dtypes_after - change.dtypes_before, change.dtypes_before - change.dtypes_after
    parts += [f"gained {_dtypes(gained)}"] if gained else []
    parts += [f"lost {_dtypes(lost)}"] if lost else []
    return ", ".join(parts)


def outcomes(difference: OutcomeDifference) -> str:
    """`3 broken by upgrade, 1 flaky; 400 ended the same, 2 ran before only, 5 after only`."""
    told = [f"{difference.count(kind):,} {kind}" for kind in OUTCOMES if difference.count(kind)]
    rest = [f"{difference.same:,} ended the same"]
    rest += [f"{difference.only_before:,} ran before only"] if difference.only_before else []
    rest += [f"{difference.only_after:,} after only"] if difference.only_after else []
    return "; ".join(part for part in (", ".join(told), ", ".join(rest)) if part)


def by_model(model: str) -> str:
    return f"Written by the model {model} about this area of the change. Nothing is counted by it, and it may be wrong."


def said_by_model(summary: AreaSummary) -> str:
    return f"{summary.area} (the model {summary.model} says): {summary.text}"


def more(number: int, what: str) -> str:
    return f"and {counted(number, f'more {what}')}; the report in JSON has all of them"


def by_file() -> str:
    return "Each test by the strongest that happened to it; files in which nothing did are left out."


def all_changes(counts: Mapping[TestChange, int]) -> str:
    """`Tests: 3 new, 2 removed, 40 unchanged`; empty without any."""
    told = ", ".join(f"{counts[change]:,} {said}" for change, said in CHANGES.items() if counts.get(change))
    return f"Tests: {told}" if told else ""


def cut_here() -> str:
    return "There is no room for more here; the report in JSON has all of it."


def took(seconds: float) -> str:
    return f"compared in {seconds:.1f} s" if seconds else ""


def nothing_of(duty: Duty) -> str:
    return {
        Duty.MUST: "No test that the manifests ask for was changed.",
        Duty.SHOULD: "Of no other test that they ask for the code under test changed.",
        Duty.NEW: "Every test is named by an entry.",
        Duty.NOTHING: "No other test that the manifests name changed.",
    }[duty]


def _dtypes(dtypes: frozenset[str]) -> str:
    return " ".join(sorted(dtypes)) or "no dtypes"
