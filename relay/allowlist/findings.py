"""What is wrong, or odd, in a file that says who takes part, said with its place.

Owns the finding and the errors that carry findings; it does not look for any.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

SHOWN_VALUE_CAP = 60
SHOWN_FINDINGS = 3


class Severity(StrEnum):
    """An error keeps the whole file from being used; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One sentence about one place; `line` and `column` count from 1."""

    line: int
    column: int
    severity: Severity
    message: str

    def __str__(self) -> str:
        mark = "warning: " if self.severity is Severity.WARNING else ""
        return f"{self.line}:{self.column}: {mark}{self.message}"


class DocumentError(Exception):
    """A file that cannot be used. `findings` holds all that was found in it, warnings included."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings: tuple[Finding, ...] = tuple(sorted(findings))
        super().__init__(summary(errors_of(self.findings)))


class AllowlistError(DocumentError):
    """The text is no allowlist."""


class ProvidersError(DocumentError):
    """The text is no list of CI providers."""


def errors_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that keep the file from being used."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def summary(findings: Sequence[Finding]) -> str:
    """The first few findings in one line, for a log line or a page."""
    shown_ones = "; ".join(f"line {finding}" for finding in findings[:SHOWN_FINDINGS])
    rest = len(findings) - SHOWN_FINDINGS
    return f"{shown_ones}; and {rest} more" if rest > 0 else shown_ones


def shown(text: str) -> str:
    """A piece of the file as a message may show it: escaped and short."""
    return repr(text if len(text) <= SHOWN_VALUE_CAP else f"{text[:SHOWN_VALUE_CAP]}...")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean ...?)` when one of the known words is near, else nothing."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    # The cap keeps a hostile key of megabytes away from difflib's quadratic search.
    near = difflib.get_close_matches(word[:SHOWN_VALUE_CAP].lower(), list(by_lower), n=1, cutoff=0.6)
    return f" (did you mean {by_lower[near[0]]}?)" if near else ""
