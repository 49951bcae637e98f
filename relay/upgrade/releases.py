"""Which release of torch a name or a `version.txt` speaks of."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(?<!\d)(\d{1,4}\.\d{1,4})(?!\d)")


def release_in(text: str) -> str:
    """`2.14` of `v2.14.1` and of `2.14.0a0+git1234`; empty where the text speaks of none."""
    found = _VERSION.search(text)
    return found[1] if found else ""
