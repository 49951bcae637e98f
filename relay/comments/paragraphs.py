"""The lines of a comment that its author says: plain paragraphs, as GitHub shows them. Pure.

What is shown as code, as a quote, in a list or a heading, or not at all (an HTML comment) is talk about commands, and
gives no line. Source: https://spec.commonmark.org/0.31.2/
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: GitHub takes no longer comment (in characters).
TEXT_CAP = 65_536

# All that can hide or quote text. Not: a line of dashes that makes a heading of the line before it, for that is how
# signatures of mails begin; and nothing that only decorates, since names of tests are full of underscores.
_RULES = [
    *("blockquote", "code", "fence", "heading", "hr", "html_block", "list"),
    *("backticks", "entity", "escape", "html_inline", "newline"),
]
_BREAKS = ("softbreak", "hardbreak")


def said_lines(text: str, begin: str) -> tuple[str, ...]:
    """The lines that begin with `begin` (in any letter case) as text. Code inside of such a line is part of it."""
    if begin.casefold() not in text.casefold():
        return ()
    tokens = _parser().parse(text[:TEXT_CAP])
    paragraphs = (inline for before, inline in pairwise(tokens) if before.type == "paragraph_open" and not before.level)
    lines = (line for paragraph in paragraphs for line in _lines(paragraph.children or []))
    return tuple(line for line in lines if line.casefold().startswith(begin.casefold()))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("zero", {"html": True}).enable(_RULES)


def _lines(children: list[Token]) -> Iterator[str]:
    """The lines of a paragraph; one that begins with code or with a tag begins with a blank."""
    line = ""
    for child in children:
        if child.type in _BREAKS:
            yield line
            line = ""
        elif child.type == "text":
            line += child.content
        elif child.type == "code_inline":
            line += child.content if line else f" {child.content}"
        elif not line:
            line = " "
    yield line
