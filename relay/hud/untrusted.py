"""Values of a report that anybody wrote, brought into a form that both databases store and a page may show.

Owns the conversions of single values; must not know what a report looks like. What cannot be used is dropped, never
guessed: a wrong number or link is worse than none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

#: The largest number of a column that both databases have.
LARGEST_NUMBER = 2**63 - 1
#: A count above this is no count, and three of them still add up to a number that fits.
LARGEST_COUNT = 10**15
LARGEST_ATTEMPT = 2**31 - 1

_SHA = re.compile(r"[0-9a-fA-F]{40}([0-9a-fA-F]{24})?")
_TRUNK_TAG = re.compile(r"/ciflow/trunk/([0-9]{1,18})\Z")


def mapping(value: object) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object, cap: int) -> str:
    """Text or a whole number, on one line of printable characters, cut at `cap`; anything else is empty."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    written = value if isinstance(value, str) else _written(value)
    return "".join(character for character in written[: 2 * cap] if character.isprintable())[:cap]


def _written(number: int) -> str:
    # Python refuses to write very long numbers, and no identity is that long.
    return str(number) if abs(number) <= LARGEST_NUMBER else ""


def passage(value: object, cap: int) -> str:
    """Text of any number of lines, cut at `cap`; anything else is empty."""
    return value[:cap] if isinstance(value, str) else ""


def link(value: object, cap: int) -> str:
    """An http or https address, or nothing: readers of the row put it into a page as it is."""
    address = text(value, cap + 1)
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and parts.netloc and len(address) <= cap
    return address if usable else ""


def seconds(value: object) -> float | None:
    """A finite duration, never negative: a clock that runs behind counts as no wait at all."""
    number = _finite(value)
    return None if number is None else max(number, 0.0)


def count(value: object) -> int | None:
    """A number of things."""
    number = _finite(value)
    return int(number) if number is not None and 0 <= number <= LARGEST_COUNT else None


def _finite(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def attempt(value: object) -> int:
    """The number of a run's attempt; 1 for what is none."""
    given = text(value, 20)
    number = int(given) if given.isascii() and given.isdecimal() else 0
    return number if 1 <= number <= LARGEST_ATTEMPT else 1


def pull_number(value: object) -> int:
    """The number of a pull request; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value <= LARGEST_NUMBER else 0


def pull_of_ref(ref: object) -> int:
    """The pull request that a `ciflow/trunk` tag was made for; 0 for any other ref."""
    found = _TRUNK_TAG.search(text(ref, 500))
    return int(found.group(1)) if found else 0


def moment(value: object) -> datetime | None:
    """An ISO 8601 moment, in UTC when it names no zone; None for what cannot be read."""
    try:
        read = datetime.fromisoformat(text(value, 64))
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def is_sha(value: str) -> bool:
    """Whether this names a commit, of either of git's formats."""
    return bool(_SHA.fullmatch(value))


def is_no_commit(value: str) -> bool:
    """Whether this is what GitHub writes for the absence of a commit, as after the deletion of a tag."""
    return not value.strip("0")
