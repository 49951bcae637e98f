"""All rules over a set of manifests at once: what a load finds, the dearer rules, those that compare manifests, and
with an upstream tree those about names that must exist there. Changes nothing.

The rules by id are in `RULES` (`oot-manifests.md` 7.2, `lint`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date

from selector.manifests.document import ManifestDocument
from selector.manifests.expiry import expired
from selector.manifests.findings import Finding, Severity
from selector.manifests.lint.across import across
from selector.manifests.lint.checked import Checked, examine
from selector.manifests.lint.inside import inside
from selector.manifests.lint.issues import citing_closed, read_closed_issues
from selector.manifests.lint.sources import against
from selector.manifests.rulebook import RULES, Rule
from selector.trees import SourceTree

__all__ = ["RULES", "Rule", "lint", "read_closed_issues"]


def lint(
    documents: Sequence[ManifestDocument],
    upstream: SourceTree | None = None,
    *,
    today: date | None = None,
    closed: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Every finding in order of place, with the severity of its rule: an error is not always one that keeps a manifest
    from loading. A manifest that can not be read is left out of the rules that compare.

    With `upstream` this takes the seconds of an index of that tree. With a day, entries that expired before it are
    found, and with closed issues (`read_closed_issues`) entries that cite one.
    """
    findings: list[Finding] = []
    readable: list[Checked] = []
    for document in sorted(documents, key=lambda document: document.name):
        checked, found = examine(document)
        findings += found
        if checked is not None:
            readable.append(checked)
    findings += _compared(readable, upstream)
    if today is not None:
        findings += (found for one in readable for found in expired(one.placed, one.manifest, today))
    findings += (found for one in readable for found in citing_closed(one, closed))
    return tuple(sorted(_as_ruled(finding) for finding in findings))


def _compared(readable: Sequence[Checked], upstream: SourceTree | None) -> Iterator[Finding]:
    for checked in readable:
        yield from inside(checked)
    yield from across(readable)
    if upstream is not None:
        yield from against(readable, upstream)


def _as_ruled(finding: Finding) -> Finding:
    rule = RULES.get(finding.rule)
    if rule is None or finding.severity is Severity.ERROR:
        return finding
    return replace(finding, severity=rule.severity)
