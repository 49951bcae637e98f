"""Text from outside as harmless Markdown: in code it is no mention, no link, no image and no markup. Pure.

GitHub counts the text of a comment in bytes here and in characters there, so everything is bounded in bytes of UTF-8.
"""

from __future__ import annotations

import re

from relay.printable import printable

_TICKS = re.compile("`+")
_MORE = "\N{HORIZONTAL ELLIPSIS}"


def code(text: str, cap: int = 300) -> str:
    """One line of code, cut at `cap` bytes."""
    line = cut(" ".join(printable(text).split()), cap)
    if not line:
        return "` `"
    fence = "`" * (_longest(line) + 1)
    # A blank on both sides is taken off again; it is needed where a tick would touch the fence.
    pad = " " if line[0] in "` " or line[-1] in "` " else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def block(text: str, cap: int = 4_000) -> str:
    """Lines of code, cut at `cap` bytes without their fences."""
    lines = cut("\n".join(printable(line).rstrip() for line in text.splitlines()), cap)
    fence = "`" * max(3, _longest(lines) + 1)
    return f"{fence}text\n{lines}\n{fence}"


def cut(text: str, cap: int) -> str:
    """The text in at most `cap` bytes, with a mark where it was cut."""
    encoded = text.encode()
    if len(encoded) <= cap:
        return text
    return encoded[: cap - len(_MORE.encode())].decode(errors="ignore") + _MORE


def size(text: str) -> int:
    """Bytes."""
    return len(text.encode())


def _longest(text: str) -> int:
    return max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
