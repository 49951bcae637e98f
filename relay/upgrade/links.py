"""Where the evidence of an upgrade report can be read: addresses on GitHub for commits, lines of a file otherwise.

An address is made of the report's own repository and commits and of quoted paths; nothing else of a report becomes one.
"""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from selector.upgrade.types import Evidence, Origin, Place


def comparison(origin: Origin) -> str:
    """The page that compares both commits; empty where there is none."""
    if not (origin.repository and origin.base_commit and origin.head_commit):
        return ""
    return f"{origin.repository}/compare/{origin.base_commit}...{origin.head_commit}"


def hunk(origin: Origin, evidence: Evidence) -> str:
    """The changed lines on the page that compares both commits. GitHub names a file there by the SHA-256 of its path,
    a line by its side. Empty where there is no such page, and for evidence without a place."""
    page, place = comparison(origin), evidence.head or evidence.base
    if not page or place is None:
        return ""
    side = "R" if evidence.head is not None else "L"
    lines = f"{side}{place.line}" if place.line else ""
    if place.line and place.end_line > place.line:
        lines += f"-{side}{place.end_line}"
    return f"{page}#diff-{hashlib.sha256(place.path.encode()).hexdigest()}{lines}"


def before(origin: Origin, evidence: Evidence) -> str:
    """The lines in the older tree: what the page of a comparison that is too large for GitHub does not show."""
    return _lines_at(origin, origin.base_commit, evidence.base)


def after(origin: Origin, evidence: Evidence) -> str:
    """The lines in the newer tree."""
    return _lines_at(origin, origin.head_commit, evidence.head)


def spelt(place: Place) -> str:
    """`test/common.py:4-9`, for people and editors."""
    if not place.line:
        return place.path
    return f"{place.path}:{place.line}" + (f"-{place.end_line}" if place.end_line > place.line else "")


def _lines_at(origin: Origin, commit: str, place: Place | None) -> str:
    if not (origin.repository and commit and place):
        return ""
    lines = f"#L{place.line}" if place.line else ""
    if place.line and place.end_line > place.line:
        lines += f"-L{place.end_line}"
    return f"{origin.repository}/blob/{commit}/{quote(place.path)}{lines}"
