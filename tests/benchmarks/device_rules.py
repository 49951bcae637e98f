"""The rules by which the device may refuse, as a fixed list: a refusal by another name is a failure."""

from __future__ import annotations

import re

RULES = frozenset({"generator-offset", "nested-tensor", "no-kernel", "pointer-device", "quantized", "sparse-layout"})
_REFUSAL = re.compile(r"spyre: unsupported: ([a-z0-9_-]+)")


def rule_in(text: str) -> str:
    """The rule of the list that the device named in its own error, or an empty text."""
    found = _REFUSAL.search(text)
    return found[1] if found and found[1] in RULES else ""
