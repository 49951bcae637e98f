"""What the pages share: the renderer, where a page stands in its list, and reading of what an address asks for.

Odd values in an address are taken as not given: a person who edits an address gets a page, not a validation error.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from relay.web.paging import LARGEST
from relay.web.rendering import PAGES

__all__ = ["PAGES", "Pager", "choice", "number"]

_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Pager:
    """Where a page stands in its list, and the addresses before and after it, empty at the ends."""

    first: int
    last: int
    total: int
    previous: str
    next: str


def choice(kind: type[_Choice], text: str) -> _Choice | None:
    """The word of a vocabulary that an address names, None for anything else."""
    return next((member for member in kind if member.value == text), None)


def number(text: str) -> int | None:
    """A positive number that a database column can hold."""
    if not (text.isascii() and text.isdecimal() and len(text) < 11):
        return None
    return int(text) if 0 < int(text) <= LARGEST else None
