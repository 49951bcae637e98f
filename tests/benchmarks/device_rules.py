"""Tells a refusal from a failure: the device's own error, naming a rule of its fixed list. Any other name is none."""

from __future__ import annotations

import re

from workers.spyre.profile import RULES, refusal_prefix

_REFUSAL = re.compile(re.escape(refusal_prefix()) + r"([a-z0-9-]+)")


def rule_in(text: str) -> str:
    """The rule of the list that the device named in its own error, or an empty text."""
    found = _REFUSAL.search(text)
    return found[1] if found and found[1] in RULES else ""
