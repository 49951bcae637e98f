"""How alike two tests are written, from 0 to 1, and which of many are worth comparing."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from selector.source import source_lines
from selector.trees import SourceTree
from selector.upgrade.comparing.written import WrittenTest

_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\s\w]")
_COMMENT = re.compile(r"#[^\n]*")
_SIGNATURE = re.compile(r"^\s*(?:async\s+)?def\s+\w+", re.MULTILINE)
#: Tokens of one test that are looked at.
_TOKENS = 4_000
#: A pair of words that more tests than this have in common says nothing about which of them is meant.
_RARE = 8
_TRIED = 6


class Resemblance:
    """Compares tests of two trees by the pairs of neighbouring words in their texts; each text is read once."""

    def __init__(self, base: SourceTree, head: SourceTree) -> None:
        self._trees = (base, head)
        self._lines: dict[tuple[int, str], list[str]] = {}
        self._pairs: dict[tuple[int, str, str], Counter[tuple[str, str]]] = {}

    def of(self, before: WrittenTest, after: WrittenTest) -> float:
        """1 for tests that do the same, else the share of word pairs that both have."""
        if before.definition is None or after.definition is None:
            return 0.0
        if before.definition.body == after.definition.body:
            return 1.0
        old, new = self._words(0, before), self._words(1, after)
        both = old.total() + new.total()
        return 2 * (old & new).total() / both if both else 0.0

    def nearest(
        self, gone: Iterable[WrittenTest], came: list[WrittenTest]
    ) -> Iterator[tuple[WrittenTest, WrittenTest]]:
        """For each test that went those that came and have most of its rare word pairs."""
        holders: dict[tuple[str, str], list[int]] = {}
        for number, test in enumerate(came):
            for pair in self._words(1, test):
                holders.setdefault(pair, []).append(number)
        rare = {pair: numbers for pair, numbers in holders.items() if len(numbers) <= _RARE}
        for test in gone:
            votes = Counter(number for pair in self._words(0, test) for number in rare.get(pair, ()))
            yield from ((test, came[number]) for number, _ in votes.most_common(_TRIED))

    def _words(self, side: int, test: WrittenTest) -> Counter[tuple[str, str]]:
        key = (side, test.origin.file, test.origin.symbol)
        if key not in self._pairs:
            self._pairs[key] = Counter(pairwise(_TOKEN.findall(self._text(side, test))[:_TOKENS]))
        return self._pairs[key]

    def _text(self, side: int, test: WrittenTest) -> str:
        """The text of a test from its arguments on."""
        definition = test.definition
        if definition is None:
            return ""
        path = (side, test.origin.file)
        if path not in self._lines:
            self._lines[path] = source_lines(self._trees[side].read(test.origin.file) or "")
        text = "\n".join(self._lines[path][definition.line - 1 : definition.end_line])
        start = _SIGNATURE.search(text)
        return _COMMENT.sub("", text[start.end() :] if start else text)


def alike_names(one: str, other: str) -> float:
    """How alike two names are by their words."""
    return difflib.SequenceMatcher(None, one.split("_"), other.split("_"), autojunk=False).ratio()
