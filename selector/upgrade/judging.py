"""What an upgrade means for a device, from what differs: a duty for every test that concerns it, the funnel, and the
variants that will appear. The rules are in `duties.py`, the groups in `causes.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selector.collector import collector_paused
from selector.manifests import ManifestSet
from selector.types import BaseTest, Mode
from selector.upgrade.causes import Causes, Judged
from selector.upgrade.duties import Duties, Verdict
from selector.upgrade.funnel import VariantCounts, funnel
from selector.upgrade.governing import Governing, Ruling
from selector.upgrade.side import Side
from selector.upgrade.types import (
    ChangedTest,
    Duty,
    Finding,
    FunnelStep,
    Governed,
    NewVariant,
    OpInfoDifference,
    TestChange,
    TestDifference,
)
from selector.upgrade.variants import NONE_ADMITTED, Admitted, Variants


@dataclass(frozen=True, slots=True)
class Judgement:
    """The findings in the order of duties and tests; tests that concern nobody are in none."""

    findings: tuple[Finding, ...]
    funnel: tuple[FunnelStep, ...]
    variants: tuple[NewVariant, ...]
    notes: tuple[str, ...]


def judge(
    difference: TestDifference,
    operators: OpInfoDifference,
    base: Side,
    head: Side,
    *,
    manifests: ManifestSet | None,
    device: str,
) -> Judgement:
    """Judge every test of both trees. Without manifests every test counts as required, and nothing is said about
    variants. `device` is the word in generated names."""
    with collector_paused():
        return _Judging(difference, operators, base, head, manifests, device).judgement()


@dataclass
class _Judging:
    """One judgement under way."""

    difference: TestDifference
    operators: OpInfoDifference
    base: Side
    head: Side
    manifests: ManifestSet | None
    device: str

    def __post_init__(self) -> None:
        self._governing = Governing(self.manifests)
        self._duties = Duties(self._governing, self.base, self.head, self.operators, self.device)
        self._before = Variants(self.base, self.manifests, self.device)
        self._after = Variants(self.head, self.manifests, self.device)
        self._running = 0

    def judgement(self) -> Judgement:
        judged: list[tuple[ChangedTest, Ruling, Verdict]] = []
        for changed in self.difference.tests:
            if (verdict := self._duties.verdict(changed)) is not None:
                judged.append((changed, self._governing.ruling_of(changed), verdict))
        findings, variants = self._findings(judged)
        ordered = sorted(findings, key=lambda finding: (_ORDER[finding.duty], finding.changed.test))
        counts = self._counts()
        steps = funnel(self.difference, ordered, counts, len(self._governing.names()))
        return Judgement(tuple(ordered), steps, tuple(variants), tuple(self._notes(len(ordered))))

    def _findings(self, judged: list[tuple[ChangedTest, Ruling, Verdict]]) -> tuple[list[Finding], list[NewVariant]]:
        findings: list[Finding] = []
        variants: list[NewVariant] = []
        open_ones = [Judged(changed, verdict) for changed, _, verdict in judged if verdict.duty is not Duty.NOTHING]
        causes = iter(Causes(self.base, self.head).name(open_ones))
        for changed, ruling, verdict in judged:
            before, after = self._admitted(changed, ruling)
            governed = tuple(_governed(ruling, before, after))
            cause = next(causes) if verdict.duty is not Duty.NOTHING else ""
            findings.append(Finding(changed, verdict.duty, verdict.reason, governed, verdict.suggested, cause))
            variants += _appearing(changed.test, before, after, governed)
            self._running += len(after.places)
        return findings, variants

    def _admitted(self, changed: ChangedTest, ruling: Ruling) -> tuple[Admitted, Admitted]:
        before = after = NONE_ADMITTED
        if changed.change is not TestChange.ADDED:
            before = self._before.admitted(changed.former or changed.test, ruling)
        if changed.change is not TestChange.REMOVED:
            after = self._after.admitted(changed.test, self._governing.ruling(changed.test))
        return before, after

    def _counts(self) -> VariantCounts:
        files = self.manifests.files() if self.manifests is not None else frozenset[str]()
        totals = [(entry.test.file in files, self._after.total(entry)) for entry in self.head.catalog]
        everything = sum(count for _, count in totals)
        if self.manifests is None:
            return VariantCounts(everything)
        return VariantCounts(everything, sum(count for listed, count in totals if listed), self._running)

    def _notes(self, concerned: int) -> Iterator[str]:
        if self.manifests is None:
            yield "no manifests were given: every test counts as required"
        rest = len(self.difference.tests) - concerned
        if rest == 1:
            yield "1 test is in no manifest and asks for nothing; it is counted and not listed"
        elif rest:
            yield f"{rest} tests are in no manifest and ask for nothing; they are counted and not listed"


_ORDER = {duty: number for number, duty in enumerate(Duty)}


def _governed(ruling: Ruling, before: Admitted, after: Admitted) -> Iterator[Governed]:
    """One for each entry; the file's own line where no entry names the test and its unlisted tests are held to an
    outcome. `note` is the name as listed."""
    for name in ruling.names:
        entry = name.entry
        counts = (
            (None, None) if entry.mode is Mode.SKIP else (before.count(entry.provenance), after.count(entry.provenance))
        )
        yield Governed(entry.provenance, entry.mode, *counts, note=name.text)
    if not ruling.names and ruling.rules is not None and ruling.is_binding:
        place = ruling.rules.provenance
        yield Governed(place, ruling.rules.unlisted, before.count(place), after.count(place), "unlisted tests")


def _appearing(
    test: BaseTest, before: Admitted, after: Admitted, governed: tuple[Governed, ...]
) -> Iterator[NewVariant]:
    """Variants that only the newer tree makes, by operator and by what governs them."""
    by_place = {one.provenance: one for one in governed}
    found: dict[tuple[str, str], list[str]] = {}
    for made, place in after.places.items():
        if made not in before.places:
            found.setdefault((made.op, place), []).append(made.dtype)
    for (op, place), dtypes in sorted(found.items()):
        yield NewVariant(test, op, tuple(sorted(filter(None, dtypes))), by_place.get(place))
