"""The findings of a report as people go through them: by duty, and in a duty by what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from selector.types import Mode
from selector.upgrade.types import Duty, Evidence, Finding, TestChange, UpgradeReport


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings that one look settles. `evidence` is what they share, as far as the first of them tells."""

    name: str
    findings: tuple[Finding, ...]
    evidence: tuple[Evidence, ...]


def with_duty(report: UpgradeReport, duty: Duty) -> tuple[Finding, ...]:
    """The findings of one duty, in the order of the report."""
    return tuple(finding for finding in report.findings if finding.duty is duty)


def causes_of(findings: Sequence[Finding]) -> tuple[Cause, ...]:
    """Grouped by cause, what settles most first; what names no cause goes by its file."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.cause or finding.changed.test.file, []).append(finding)
    causes = (Cause(name, tuple(group), _shared(name, group[0])) for name, group in groups.items())
    return tuple(sorted(causes, key=lambda cause: -len(cause.findings)))


def suggested_modes(findings: Sequence[Finding]) -> list[tuple[Mode, int]]:
    """How many are proposed to be governed in which mode, the most frequent first."""
    return Counter(finding.suggested for finding in findings if finding.suggested is not None).most_common()


def changes_by_file(report: UpgradeReport) -> list[tuple[str, Counter[TestChange]]]:
    """What became of the tests of each file that is not all as it was, by the strongest change of each; of all files
    under the empty name, first."""
    files: dict[str, Counter[TestChange]] = {"": Counter()}
    for changed in report.difference.tests:
        for name in ("", changed.test.file):
            files.setdefault(name, Counter())[changed.change] += 1
    return [
        (name, counts) for name, counts in sorted(files.items()) if not name or set(counts) != {TestChange.UNCHANGED}
    ]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the manifests and how many of its tests ask for what."""

    provenance: str
    mode: Mode
    duties: Counter[Duty]


def entries_of(report: UpgradeReport) -> tuple[Entry, ...]:
    """The entries that govern a test of the findings, those with most to assess first."""
    found: dict[tuple[str, Mode], Counter[Duty]] = {}
    for finding in report.findings:
        for governed in finding.governed:
            found.setdefault((governed.provenance, governed.mode), Counter())[finding.duty] += 1
    entries = (Entry(*key, duties) for key, duties in found.items())
    order = list(Duty)
    return tuple(sorted(entries, key=lambda it: ([-it.duties[duty] for duty in order], it.provenance)))


def notes_of(report: UpgradeReport) -> tuple[str, ...]:
    """All notes, each once: the report may tell those of its parts as its own."""
    of_results = report.outcomes.notes if report.outcomes is not None else ()
    return tuple(dict.fromkeys((*of_results, *report.notes, *report.difference.notes, *report.operators.notes)))


def _shared(name: str, first: Finding) -> tuple[Evidence, ...]:
    """What is about the cause itself, else the strongest that there is."""
    evidence = first.changed.evidence
    return tuple(it for it in evidence if it.symbol and it.symbol in name) or evidence[:1]
