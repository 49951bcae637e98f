"""From all generated tests of the newer tree down to what somebody has to look at, step by step.

Steps in variants are estimates from the text (`variants.py`), which their summaries say; the others are counted.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from selector.upgrade.types import Duty, Finding, FunnelStep, TestChange, TestDifference

_TO_ASSESS = (Duty.MUST, Duty.SHOULD)
_ESTIMATE = "an estimate from the text"


@dataclass(frozen=True, slots=True)
class VariantCounts:
    """Variants on the device: `all` of the newer tree's tests, those of files that manifests list, and those that they
    let run. The last two are None without manifests."""

    all: int
    listed: int | None = None
    running: int | None = None


def funnel(
    difference: TestDifference, findings: Sequence[Finding], counts: VariantCounts, names: Set[tuple[str, str]]
) -> tuple[FunnelStep, ...]:
    """The steps, widest first. `names` are those that the manifests list, each by the place of its entry; none without
    manifests."""
    steps = [FunnelStep("collected", counts.all, "variants", f"of all tests on the device, {_ESTIMATE}")]
    if counts.listed is not None and counts.running is not None:
        steps.append(FunnelStep("listed", counts.listed, "variants", f"in files of the manifests, {_ESTIMATE}"))
        steps.append(FunnelStep("running", counts.running, "variants", f"that the manifests let run, {_ESTIMATE}"))
    changed = len(difference.tests) - difference.count(TestChange.UNCHANGED)
    steps.append(FunnelStep("changed", changed, "tests", f"of {len(difference.tests)} in both trees are not the same"))
    assessed = [finding for finding in findings if finding.duty in _TO_ASSESS]
    for duty in _TO_ASSESS:
        left = sum(finding.duty is duty for finding in findings)
        steps.append(FunnelStep(duty.value, left, "tests", (_SUMMARIES if names else _OF_ANY)[duty]))
    if names:
        told = {(governed.provenance, governed.note) for finding in assessed for governed in finding.governed}
        summary = f"of the {len(names)} that the manifests list, {len(told & names) / len(names):.1%}"
        unlisted = len(told - names)
        if unlisted:
            summary += f"; and unlisted tests of {unlisted} {'file' if unlisted == 1 else 'files'}, held to an outcome"
        steps.append(FunnelStep("to assess", len(told & names), "names", summary))
    causes = len({finding.cause for finding in assessed})
    steps.append(FunnelStep("causes", causes, "causes", "one look at each settles all of its tests"))
    return tuple(steps)


_SUMMARIES = {
    Duty.MUST: "that the manifests name, and that are gone or other tests now",
    Duty.SHOULD: "that are held to an outcome, and whose subject changed",
}
#: The same without manifests, when every test counts as required.
_OF_ANY = {Duty.MUST: "that are gone or other tests now", Duty.SHOULD: "whose subject changed"}
