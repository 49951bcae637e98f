"""What is wrong, or odd, in a manifest, said with its place. Owns the finding, its severity and the error that
carries findings; it does not look for any.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

SHOWN_VALUE_CAP = 60
SHOWN_FINDINGS = 3
_YAML_WORDS = {None: "null", True: "true", False: "false"}


class Severity(StrEnum):
    """An error keeps the whole set from loading; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a YAML text; both numbers count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One sentence about one place of one manifest. `line` and `column` count from 1; `rule` is the id of the rule
    that found it (`selector.manifests.lint.RULES`), empty when no rule did.
    """

    file: str
    line: int
    column: int
    severity: Severity
    message: str
    rule: str = ""

    def __str__(self) -> str:
        mark = "warning: " if self.severity is Severity.WARNING else ""
        return f"{self.file}:{self.line}:{self.column}: {mark}{self.message}"


class ManifestError(Exception):
    """The manifests can not be used. `findings` holds everything found in all of them, warnings included."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings: tuple[Finding, ...] = tuple(sorted(findings))
        super().__init__(summary(self.errors))

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)


def summary(findings: Sequence[Finding]) -> str:
    """The first few findings in one line, for a log line or a page."""
    shown = "; ".join(str(finding) for finding in findings[:SHOWN_FINDINGS])
    rest = len(findings) - SHOWN_FINDINGS
    return f"{shown}; and {rest} more" if rest > 0 else shown


def shown(value: object) -> str:
    """A value of a manifest as a message may show it: escaped and short. Collections are named, not printed."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = _YAML_WORDS.get(value, repr(value)) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= SHOWN_VALUE_CAP else f"{text[:SHOWN_VALUE_CAP]}..."


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """` (did you mean ...?)` when one of the known words is near, else nothing."""
    # The cap keeps a hostile key of megabytes away from difflib's quadratic search.
    near = difflib.get_close_matches(str(word)[:SHOWN_VALUE_CAP].lower(), list(known), n=1, cutoff=0.7)
    return f" (did you mean `{near[0]}`?)" if near else ""
