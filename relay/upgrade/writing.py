"""Writes an upgrade report in its JSON form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from relay.upgrade.document import (
    ChangedTestPart,
    EvidencePart,
    FindingPart,
    FunnelPart,
    GovernedPart,
    OperatorPart,
    OperatorsPart,
    OriginPart,
    OutcomePart,
    OutcomesPart,
    PlacePart,
    SummaryPart,
    TestPart,
    UpgradeDocument,
    VariantPart,
)
from selector.types import BaseTest
from selector.upgrade.types import (
    ChangedTest,
    Evidence,
    Finding,
    Governed,
    NewVariant,
    OpInfoChange,
    OutcomeDifference,
    Place,
    UpgradeOutcome,
    UpgradeReport,
)


def report_json(report: UpgradeReport) -> bytes:
    """The report as one line of JSON. What is as usual is left out: a key that is missing has its default."""
    return document_of(report).model_dump_json(exclude_defaults=True).encode()


def document_of(report: UpgradeReport) -> UpgradeDocument:
    """The report's JSON form, as a value. Raises `KeyError` for a finding about a test outside the difference."""
    difference, operators = report.difference, report.operators
    shared = _Shared()
    numbers = {test: number for number, test in enumerate(difference.tests)}
    return UpgradeDocument(
        format="oot-relay/upgrade-report",
        version=1,
        base=report.base,
        head=report.head,
        device=report.device,
        origin=OriginPart(**asdict(report.origin)),
        seconds=report.seconds,
        files_before=difference.files_before,
        files_after=difference.files_after,
        funnel=tuple(FunnelPart(**asdict(step)) for step in report.funnel),
        findings=tuple(_finding(finding, numbers) for finding in report.findings),
        operators=OperatorsPart(
            before=operators.before,
            after=operators.after,
            changes=tuple(_operator(change, shared) for change in operators.changes),
            notes=operators.notes,
        ),
        variants=tuple(_variant(variant) for variant in report.variants),
        outcomes=None if report.outcomes is None else outcomes_part(report.outcomes),
        summaries=tuple(
            SummaryPart(area=summary.area, text=summary.text, model=summary.model) for summary in report.summaries
        ),
        notes=report.notes,
        difference_notes=difference.notes,
        tests=tuple(_changed(test, shared) for test in difference.tests),
        evidence=tuple(shared.parts),  # last: the others fill it
    )


class _Shared:
    """The list of evidence: each piece once, in the order it is first asked for."""

    def __init__(self) -> None:
        self.parts: list[EvidencePart] = []
        self._numbers: dict[Evidence, int] = {}

    def numbers(self, evidence: Iterable[Evidence]) -> tuple[int, ...]:
        return tuple(self._number(it) for it in evidence)

    def _number(self, evidence: Evidence) -> int:
        if (known := self._numbers.get(evidence)) is not None:
            return known
        self._numbers[evidence] = len(self.parts)
        self.parts.append(_evidence(evidence))
        return len(self.parts) - 1


def _evidence(evidence: Evidence) -> EvidencePart:
    return EvidencePart(
        kind=evidence.kind,
        symbol=evidence.symbol,
        text=evidence.text,
        base=_place(evidence.base),
        head=_place(evidence.head),
        chain=evidence.chain,
    )


def _place(place: Place | None) -> PlacePart | None:
    return None if place is None else PlacePart(path=place.path, line=place.line, end_line=place.end_line)


def _changed(changed: ChangedTest, shared: _Shared) -> ChangedTestPart:
    return ChangedTestPart(
        file=changed.test.file,
        cls=changed.test.cls,
        name=changed.test.name,
        changes=changed.changes,
        evidence=shared.numbers(changed.evidence),
        former=None if changed.former is None else _test(changed.former),
        confidence=changed.confidence,
    )


def _finding(finding: Finding, numbers: dict[ChangedTest, int]) -> FindingPart:
    return FindingPart(
        test=numbers[finding.changed],
        duty=finding.duty,
        reason=finding.reason,
        governed=tuple(_governed(governed) for governed in finding.governed),
        suggested=finding.suggested,
        cause=finding.cause,
    )


def _governed(governed: Governed) -> GovernedPart:
    return GovernedPart(**asdict(governed))


def _operator(change: OpInfoChange, shared: _Shared) -> OperatorPart:
    return OperatorPart(
        name=change.name,
        change=change.change,
        aspects=change.aspects,
        dtypes_before=tuple(sorted(change.dtypes_before)),
        dtypes_after=tuple(sorted(change.dtypes_after)),
        evidence=shared.numbers(change.evidence),
    )


def _variant(variant: NewVariant) -> VariantPart:
    governed = None if variant.governed is None else _governed(variant.governed)
    return VariantPart(test=_test(variant.test), op=variant.op, dtypes=variant.dtypes, governed=governed)


def outcomes_part(difference: OutcomeDifference) -> OutcomesPart:
    """How the results of two releases differ, in its JSON form."""
    return OutcomesPart(
        outcomes=tuple(_outcome(outcome) for outcome in difference.outcomes),
        same=difference.same,
        only_before=difference.only_before,
        only_after=difference.only_after,
        notes=difference.notes,
    )


def _outcome(outcome: UpgradeOutcome) -> OutcomePart:
    return OutcomePart(
        id=outcome.id,
        test=_test(outcome.test),
        kind=outcome.kind,
        before=outcome.before,
        after=outcome.after,
        reason=outcome.reason,
        former=outcome.former,
        detail=outcome.detail,
    )


def _test(test: BaseTest) -> TestPart:
    return TestPart(file=test.file, cls=test.cls, name=test.name)
