"""What was edited in a piece of source, in few words, so that the same edit made in many tests is seen to be one.

Compares the words of lines that differ; layout is no edit. Works on the lines that evidence names in both trees.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from selector.source import source_lines
from selector.trees import SourceTree
from selector.upgrade.types import Evidence, Place

_WORD = re.compile(r"\w+|[^\w\s]")
#: Texts of more lines are not looked into, and more edits than this are nothing that other tests share.
_MOST_LINES = 400
_MOST_EDITS = 6
_SHOWN_CHARACTERS = 60


class Edits:
    """The edits between two trees."""

    def __init__(self, base: SourceTree, head: SourceTree) -> None:
        self._base, self._head = _Texts(base), _Texts(head)

    def told(self, evidence: Evidence) -> str:
        """The edits of one piece of evidence, alike for alike edits. Empty when there are too many to tell, or nothing
        to compare."""
        before, after = self._base.lines(evidence.base), self._head.lines(evidence.head)
        if not before or not after or max(len(before), len(after)) > _MOST_LINES:
            return ""
        edits = set(_edits(before, after))
        return ", ".join(sorted(edits)) if len(edits) <= _MOST_EDITS else ""


class _Texts:
    """The files of a tree by lines, each read once."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._known: dict[str, Sequence[str]] = {}

    def lines(self, place: Place | None) -> Sequence[str]:
        """The lines of a place without what is around them; none for a file as a whole."""
        if place is None or not place.line:
            return ()
        if (known := self._known.get(place.path)) is None:
            known = self._known[place.path] = source_lines(self._tree.read(place.path) or "")
        lines = known[place.line - 1 : max(place.line, place.end_line)]
        return [line for text in lines if (line := " ".join(_WORD.findall(text)))]


def _edits(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for tag, start, end, other_start, other_end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            yield from _of_words(" ".join(before[start:end]).split(), " ".join(after[other_start:other_end]).split())


def _of_words(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for tag, start, end, other_start, other_end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            yield f"`{_shown(before[start:end])}` to `{_shown(after[other_start:other_end])}`"


def _shown(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
