"""What an upgrade means for a device, from what differs: a duty for every test that concerns it, the funnel, and the
variants that will appear. The rules are in `duties.py`, the groups in `causes.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selector.collector import collector_paused
from selector.manifests import ManifestSet
from selector.types import Mode
from selector.upgrade.assessing.causes import Causes, Judged
from selector.upgrade.assessing.duties import Duties, Verdict, without_variants
from selector.upgrade.assessing.funnel import VariantCounts, funnel
from selector.upgrade.assessing.governing import Governing, Ruling
from selector.upgrade.assessing.side import Side
from selector.upgrade.assessing.variants import NONE_ADMITTED, Admitted, Variants
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


@dataclass(frozen=True, slots=True)
class _Concerned:
    """A test that concerns the device, what is said about it, and its variants on both releases."""

    changed: ChangedTest
    ruling: Ruling
    verdict: Verdict
    before: Admitted
    after: Admitted


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

    def judgement(self) -> Judgement:
        concerned = [one for changed in self.difference.tests if (one := self._concerned(changed)) is not None]
        findings = sorted(self._findings(concerned), key=lambda found: (_ORDER[found.duty], found.changed.test))
        variants = [variant for one in concerned for variant in _appearing(one)]
        running = sum(len(one.after.places) for one in concerned)
        steps = funnel(self.difference, findings, self._counts(running), self._governing.names())
        return Judgement(tuple(findings), steps, tuple(variants), tuple(self._notes(len(findings))))

    def _concerned(self, changed: ChangedTest) -> _Concerned | None:
        verdict = self._duties.verdict(changed)
        if verdict is None:
            return None
        ruling = self._governing.ruling_of(changed)
        before, after = self._admitted(changed, ruling)
        if ruling.is_listed and before.is_none and after.is_none and not self._may_run(changed, ruling):
            verdict = without_variants(verdict)
        return _Concerned(changed, ruling, verdict, before, after)

    def _may_run(self, changed: ChangedTest, ruling: Ruling) -> bool:
        """Whether a test of which no variant is let through would have one if the manifests said otherwise, which is
        asked of those that they skip."""
        kept_out = self._before.is_kept_out(changed.former or changed.test), self._after.is_kept_out(changed.test)
        return self.manifests is None or (not ruling.runs and not all(kept_out))

    def _findings(self, concerned: Sequence[_Concerned]) -> Iterator[Finding]:
        asking = [Judged(one.changed, one.verdict) for one in concerned if one.verdict.duty is not Duty.NOTHING]
        causes = iter(Causes(self.base, self.head).name(asking))
        for one in concerned:
            verdict = one.verdict
            cause = next(causes) if verdict.duty is not Duty.NOTHING else ""
            governed = tuple(_governed(one))
            yield Finding(one.changed, verdict.duty, verdict.reason, governed, verdict.suggested, cause)

    def _admitted(self, changed: ChangedTest, ruling: Ruling) -> tuple[Admitted, Admitted]:
        before = after = NONE_ADMITTED
        if changed.change is not TestChange.ADDED:
            before = self._before.admitted(changed.former or changed.test, ruling)
        if changed.change is not TestChange.REMOVED:
            after = self._after.admitted(changed.test, self._governing.ruling(changed.test))
        return before, after

    def _counts(self, running: int) -> VariantCounts:
        files = self.manifests.files() if self.manifests is not None else frozenset[str]()
        totals = [(entry.test.file in files, self._after.total(entry)) for entry in self.head.catalog]
        everything = sum(count for _, count in totals)
        if self.manifests is None:
            return VariantCounts(everything)
        return VariantCounts(everything, sum(count for listed, count in totals if listed), running)

    def _notes(self, concerned: int) -> Iterator[str]:
        rest = len(self.difference.tests) - concerned
        who = "1 test is" if rest == 1 else f"{rest} tests are"
        if self.manifests is None:
            yield "no manifests were given: every test counts as required"
            who += " new and not made for every device,"
        else:
            who += " in no manifest"
        if rest:
            yield f"{who} and {'asks' if rest == 1 else 'ask'} for nothing: counted, and not listed"


_ORDER = {duty: number for number, duty in enumerate(Duty)}


def _governed(one: _Concerned) -> Iterator[Governed]:
    """One for each entry; the file's own line where no entry names the test and its unlisted tests are held to an
    outcome. `note` is the name as listed."""
    ruling = one.ruling
    for name in ruling.names:
        place, mode = name.entry.provenance, name.entry.mode
        counts = (None, None) if mode is Mode.SKIP else (one.before.count(place), one.after.count(place))
        yield Governed(place, mode, *counts, note=name.text)
    if not ruling.names and ruling.rules is not None and ruling.is_binding:
        place = ruling.rules.provenance
        counts = one.before.count(place), one.after.count(place)
        yield Governed(place, ruling.rules.unlisted, *counts, note="unlisted tests")


def _appearing(one: _Concerned) -> Iterator[NewVariant]:
    """Variants that only the newer tree makes, by operator and by what governs them."""
    by_place = {governed.provenance: governed for governed in _governed(one)}
    found: dict[tuple[str, str], list[str]] = {}
    for made, place in one.after.places.items():
        if made not in one.before.places:
            found.setdefault((made.op, place), []).append(made.dtype)
    for (op, place), dtypes in sorted(found.items()):
        yield NewVariant(one.changed.test, op, tuple(sorted(filter(None, dtypes))), by_place.get(place))
