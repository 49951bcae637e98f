"""Reads an upgrade report from its JSON form. The document is untrusted: it may have been written by anybody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import ValidationError

from relay.upgrade.document import (
    ChangedTestPart,
    EvidencePart,
    FindingPart,
    GovernedPart,
    OperatorPart,
    OutcomePart,
    OutcomesPart,
    PlacePart,
    TestPart,
    UpgradeDocument,
    VariantPart,
)
from selector.types import BaseTest
from selector.upgrade.types import (
    AreaSummary,
    ChangedTest,
    Evidence,
    Finding,
    FunnelStep,
    Governed,
    NewVariant,
    OpInfoChange,
    OpInfoDifference,
    Origin,
    OutcomeDifference,
    Place,
    TestDifference,
    UpgradeOutcome,
    UpgradeReport,
)

#: Bytes of a report; the one about two releases of PyTorch with all of its tests has a quarter of it.
REPORT_CAP = 32 * 1024 * 1024


_Listed = TypeVar("_Listed")


class ReportError(ValueError):
    """No upgrade report; the text says what is wrong, and where."""


def read_report(data: bytes | str) -> UpgradeReport:
    """The report of a JSON text. Raises `ReportError`."""
    return report_of(read_document(data))


def read_document(data: bytes | str) -> UpgradeDocument:
    """The document of a JSON text; whether its numbers are in its lists is not looked at. Raises `ReportError`."""
    if len(data) > REPORT_CAP:
        raise ReportError(f"the report is larger than {REPORT_CAP // 1024 // 1024} MiB")
    try:
        return UpgradeDocument.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise ReportError(f"{where}: {first['msg']}") from error


def report_of(document: UpgradeDocument) -> UpgradeReport:
    """The report a document holds. Raises `ReportError` for a number that is in none of its lists."""
    evidence = tuple(_evidence(part) for part in document.evidence)
    tests = tuple(_changed(part, evidence) for part in document.tests)
    operators = document.operators
    return UpgradeReport(
        base=document.base,
        head=document.head,
        device=document.device,
        difference=TestDifference(tests, document.files_before, document.files_after, document.difference_notes),
        operators=OpInfoDifference(
            changes=tuple(_operator(part, evidence) for part in operators.changes),
            before=operators.before,
            after=operators.after,
            notes=operators.notes,
        ),
        findings=tuple(_finding(part, tests) for part in document.findings),
        funnel=tuple(FunnelStep(it.name, it.left, it.unit, it.summary) for it in document.funnel),
        variants=tuple(_variant(part) for part in document.variants),
        notes=document.notes,
        summaries=tuple(AreaSummary(it.area, it.text, it.model) for it in document.summaries),
        outcomes=None if document.outcomes is None else outcome_difference(document.outcomes),
        origin=Origin(**document.origin.model_dump()),
        seconds=document.seconds,
    )


def _numbered(number: int, known: Sequence[_Listed], what: str) -> _Listed:
    if number >= len(known):
        raise ReportError(f"there is no {what} {number}, the list has {len(known)}")
    return known[number]


def _evidence(part: EvidencePart) -> Evidence:
    return Evidence(part.kind, part.symbol, part.text, _place(part.base), _place(part.head), part.chain)


def _place(part: PlacePart | None) -> Place | None:
    return None if part is None else Place(part.path, part.line, part.end_line)


def _changed(part: ChangedTestPart, evidence: Sequence[Evidence]) -> ChangedTest:
    return ChangedTest(
        test=_test(part),
        changes=part.changes,
        evidence=tuple(_numbered(number, evidence, "evidence") for number in part.evidence),
        former=None if part.former is None else _test(part.former),
        confidence=part.confidence,
    )


def _finding(part: FindingPart, tests: Sequence[ChangedTest]) -> Finding:
    return Finding(
        changed=_numbered(part.test, tests, "test"),
        duty=part.duty,
        reason=part.reason,
        governed=tuple(_governed(governed) for governed in part.governed),
        suggested=part.suggested,
        cause=part.cause,
    )


def _governed(part: GovernedPart) -> Governed:
    return Governed(part.provenance, part.mode, part.variants_before, part.variants_after, part.note)


def _operator(part: OperatorPart, evidence: Sequence[Evidence]) -> OpInfoChange:
    return OpInfoChange(
        name=part.name,
        change=part.change,
        aspects=part.aspects,
        dtypes_before=frozenset(part.dtypes_before),
        dtypes_after=frozenset(part.dtypes_after),
        evidence=tuple(_numbered(number, evidence, "evidence") for number in part.evidence),
    )


def _variant(part: VariantPart) -> NewVariant:
    governed = None if part.governed is None else _governed(part.governed)
    return NewVariant(_test(part.test), part.op, part.dtypes, governed)


def outcome_difference(part: OutcomesPart) -> OutcomeDifference:
    """How the results of two releases differ, from its JSON form."""
    outcomes = tuple(_outcome(outcome) for outcome in part.outcomes)
    return OutcomeDifference(outcomes, part.same, part.only_before, part.only_after, part.notes)


def _outcome(part: OutcomePart) -> UpgradeOutcome:
    return UpgradeOutcome(
        *(part.id, _test(part.test), part.kind, part.before, part.after, part.reason, part.former, part.detail)
    )


def _test(part: TestPart) -> BaseTest:
    return BaseTest(part.file, part.cls, part.name)
