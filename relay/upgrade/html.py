"""The report as one page in one file: nothing is fetched, and the page's own policy lets nothing be.

Escaping is on for the whole page; its style and script are ours and are named in the policy by their digests, so that
no other runs, whatever stands in a report.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from relay.upgrade import links, words
from relay.upgrade.grouping import (
    Cause,
    causes_of,
    changes_by_file,
    entries_of,
    notes_of,
    suggested_modes,
    with_duty,
)
from selector.types import Mode
from selector.upgrade.types import Duty, Finding, FunnelStep, UpgradeReport

_HERE = Path(__file__).parent / "page"
#: Findings of one duty that the page shows, rows of a table, and pieces of evidence of one test.
_FINDINGS = 5_000
_ROWS = 2_000
_EVIDENCE = 3


def to_html(report: UpgradeReport) -> str:
    """The whole page."""
    style, script = (_HERE / "report.css").read_text("utf-8"), (_HERE / "report.js").read_text("utf-8")
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(
        "report.html"
    ).render(
        report=report,
        words=words,
        links=links,
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; form-action 'none'",
        style=Markup(style),  # noqa: S704 - our own files, which hold no tag
        script=Markup(script),  # noqa: S704 - as above
        funnel=list(_shares(report.funnel)),
        duties=[_part(report, duty) for duty in Duty],
        entries=entries_of(report)[:_ROWS],
        files=changes_by_file(report)[:_ROWS],
        kinds=list(words.CHANGES),
        notes=notes_of(report)[:_ROWS],
        row_cap=_ROWS,
        evidence_cap=_EVIDENCE,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """The findings of one duty as the page shows them."""

    duty: Duty
    causes: tuple[Cause, ...]
    total: int
    left_out: int
    modes: list[tuple[Mode, int]]

    @property
    def anchor(self) -> str:
        return self.duty.name.lower()


def _part(report: UpgradeReport, duty: Duty) -> _Part:
    findings: Sequence[Finding] = with_duty(report, duty)
    shown = findings[:_FINDINGS]
    return _Part(duty, causes_of(shown), len(findings), len(findings) - len(shown), suggested_modes(findings))


def _shares(steps: Sequence[FunnelStep]) -> Iterator[tuple[FunnelStep, float | None]]:
    """Each step with its share of the first that counts the same; None where it is that itself, or that is nothing."""
    first: dict[str, int] = {}
    for step in steps:
        whole = first.get(step.unit)
        first.setdefault(step.unit, step.left)
        yield step, min(1.0, step.left / whole) if whole else None


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
