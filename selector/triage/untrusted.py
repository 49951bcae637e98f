"""Values out of a server's answer, made harmless: of the expected type, flat, short, and text that can be carried."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

#: Characters of a name or an argument of a call.
TEXT_CAP = 1_000
_ARGUMENTS_CAP = 10
_BITS = 62
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")


def clean_text(value: object) -> str | None:
    """Text that every encoding can carry, or None for what is none: JSON can hold half of a surrogate pair."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def one_line(text: str, cap: int) -> str:
    """At most `cap` characters for people, without what could break the line or reorder it."""
    return _CONTROL.sub(" ", clean_text(text[: 4 * cap]) or "").strip()[:cap]


def tokens(usage: object, name: str) -> int:
    """A count out of a server's `usage`, 0 for whatever is none."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def arguments_of(value: object) -> dict[str, str | int] | None:
    """The arguments of a call, given as an object or its JSON text, when they are few, short, and text or whole
    numbers: no tool takes others, and a deep or endless value is nothing to hand on. None for everything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return _flat(value) if isinstance(value, Mapping) and len(value) <= _ARGUMENTS_CAP else None


def _flat(value: Mapping[Any, Any]) -> dict[str, str | int] | None:
    flat: dict[str, str | int] = {}
    for name, item in value.items():
        key = (clean_text(name) or "")[:TEXT_CAP]
        if isinstance(item, str) and len(item) <= TEXT_CAP:
            flat[key] = clean_text(item) or ""
        elif isinstance(item, int) and item.bit_length() <= _BITS:
            flat[key] = item
        elif item is not None:
            return None
    return flat
