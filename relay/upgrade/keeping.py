"""Puts a published report on record: the report's own text, and a row for each test that a reader can ask for.

Tests that did not change and ask for nothing are counted and have no row: there are ten times as many of them as of all
others. Works inside the caller's writing session.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from relay.store.upgrade_models import Upgrade, UpgradeTest
from relay.upgrade.document import EvidencePart, FindingPart, OutcomesPart, TestPart, UpgradeDocument
from relay.upgrade.reading import outcome_difference, read_document, read_report, report_of
from relay.upgrade.views import DutyWord
from selector.upgrade.types import Duty, TestChange, UpgradeReport

_ROWS_AT_ONCE = 2_000
#: Of lists that a page shows whole; the report's text has all of them.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Publication:
    """A report that was read and is to be kept: its text and what it says."""

    text: bytes
    document: UpgradeDocument

    @property
    def digest(self) -> str:
        """Names the report by what it says: how long it took to make is no part of that."""
        said = self.document.model_copy(update={"seconds": 0.0}).model_dump_json(exclude_defaults=True)
        return hashlib.sha256(said.encode()).hexdigest()


def read_publication(text: bytes) -> Publication:
    """A report that somebody sent. Raises `ReportError`."""
    document = read_document(text)
    report_of(document)  # every number of it is in its lists
    return Publication(text, document)


def keep_report(session: Session, new: Publication, by: str, now: datetime) -> tuple[Upgrade, bool]:
    """The row of a report, and whether it was there before. `by` names who publishes it."""
    known = session.scalar(select(Upgrade).where(Upgrade.digest == new.digest))
    if known is not None:
        return known, True
    document = new.document
    kept = Upgrade(
        digest=new.digest,
        base=document.base,
        head=document.head,
        device=document.device[:100],
        repository=document.origin.repository,
        base_commit=document.origin.base_commit,
        head_commit=document.origin.head_commit,
        duties=_duties(document),
        changes=dict(Counter(test.changes[0].value for test in document.tests)),
        about=_about(document),
        document=zlib.compress(new.text),
        published_by=by,
        published_at=now,
    )
    session.add(kept)
    session.flush()
    rows = [_row(kept.id, document, finding) for finding in _listed(document)]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        session.execute(insert(UpgradeTest), rows[start : start + _ROWS_AT_ONCE])
    return kept, False


def text_of(upgrade: Upgrade) -> bytes:
    """The report as it was published."""
    return zlib.decompress(upgrade.document)


def kept_report(upgrade: Upgrade) -> UpgradeReport:
    """The report with what came of running it, where it was run."""
    report = read_report(text_of(upgrade))
    if upgrade.outcomes is None:
        return report
    return replace(report, outcomes=outcome_difference(OutcomesPart.model_validate(upgrade.outcomes)))


def name_of(test: TestPart) -> str:
    """`file::Class::method`."""
    return "::".join(part for part in (test.file, test.cls, test.name) if part)


def _duties(document: UpgradeDocument) -> dict[str, int]:
    """Counts of all tests: one without a finding asks for nothing."""
    counts = Counter(DutyWord.of(finding.duty).value for finding in document.findings)
    silent = len(document.tests) - sum(counts.values())
    counts[DutyWord.NOTHING.value] += max(0, silent)
    return {word.value: counts[word.value] for word in DutyWord}


def _about(document: UpgradeDocument) -> dict[str, Any]:
    """What a page says beside the tests."""
    changes = document.operators.changes[:_SHOWN]
    used = sorted({number for change in changes for number in change.evidence})
    places = {number: place for place, number in enumerate(used)}
    return {
        "funnel": [step.model_dump(mode="json") for step in document.funnel],
        "operators": {
            "before": document.operators.before,
            "after": document.operators.after,
            "total": len(document.operators.changes),
            "changes": [
                {**change.model_dump(mode="json"), "evidence": [places[number] for number in change.evidence]}
                for change in changes
            ],
            "notes": list(document.operators.notes),
        },
        "evidence": [document.evidence[number].model_dump(mode="json") for number in used],
        "variants": [variant.model_dump(mode="json") for variant in document.variants[:_SHOWN]],
        "variants_total": len(document.variants),
        "summaries": [summary.model_dump(mode="json") for summary in document.summaries],
        "outcomes": _outcomes(document),
        "notes": [*document.notes, *document.difference_notes],
        "files_before": document.files_before,
        "files_after": document.files_after,
        "seconds": document.seconds,
    }


def _outcomes(document: UpgradeDocument) -> dict[str, Any] | None:
    found = document.outcomes
    if found is None:
        return None
    return found.model_copy(update={"outcomes": found.outcomes[:_SHOWN]}).model_dump(mode="json")


def _listed(document: UpgradeDocument) -> Iterator[FindingPart]:
    """Findings worth a row, and the changed tests that no finding is about, as such that ask for nothing."""
    found = set()
    for finding in document.findings:
        found.add(finding.test)
        if finding.duty is not Duty.NOTHING or _changed(document, finding.test):
            yield finding
    for number, _ in enumerate(document.tests):
        if number not in found and _changed(document, number):
            yield FindingPart(test=number, duty=Duty.NOTHING, reason="")


def _changed(document: UpgradeDocument, number: int) -> bool:
    return document.tests[number].changes[0] is not TestChange.UNCHANGED


def _row(upgrade_id: int, document: UpgradeDocument, finding: FindingPart) -> dict[str, Any]:
    test = document.tests[finding.test]
    evidence: tuple[EvidencePart, ...] = tuple(document.evidence[number] for number in test.evidence)
    body = {
        "changes": [change.value for change in test.changes],
        "reason": finding.reason,
        "former": name_of(test.former) if test.former else "",
        "confidence": test.confidence,
        "suggested": finding.suggested,
        "governed": [entry.model_dump(mode="json") for entry in finding.governed],
        "evidence": [one.model_dump(mode="json") for one in evidence],
    }
    return {
        "upgrade_id": upgrade_id,
        "duty": DutyWord.of(finding.duty).value,
        "change": test.changes[0].value,
        "test": name_of(test),
        "file": test.file,
        "cause": finding.cause or test.file,
        "body": body,
    }
