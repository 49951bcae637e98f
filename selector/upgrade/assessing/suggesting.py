"""Which mode to propose for a new test that no entry governs: that of the governed test of its file that is most like
it, where one is like enough.

Two tests are alike by the words they share, those left out that most tests of the file say. A proposal is where a
person starts; nothing is run or required by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from selector.catalog import Catalog, CatalogTest
from selector.types import BaseTest, Mode
from selector.upgrade.assessing.governing import Governing

#: The share of the words of two tests that both say, from which they are taken to be about the same.
LIKE_ENOUGH = 0.5
#: The share of a file's tests from which a word that they say tells nothing.
_COMMON = 0.5


class Suggesting:
    """Proposals from the catalog of the newer tree."""

    def __init__(self, governing: Governing, head: Catalog) -> None:
        self._governing = governing
        self._catalog = head
        self._known: dict[str, Mapping[BaseTest, frozenset[str]]] = {}

    def suggest(self, test: BaseTest) -> tuple[Mode, str]:
        """The mode, and why, for people."""
        words = self._telling(test.file)
        own = words.get(test, frozenset())
        scored = [(_shared(own, said), other) for other, said in words.items() if other != test]
        likely = sorted((pair for pair in scored if pair[0] >= LIKE_ENOUGH), key=lambda pair: (-pair[0], pair[1]))
        for score, other in likely:
            ruling = self._governing.ruling(other)
            if ruling.names:
                entry = ruling.names[0].entry
                like = f"it shares {score:.0%} of its words with {other.name}"
                return entry.mode, f"{like} ({entry.provenance}: {entry.mode})"
        return Mode.SKIP, "no governed test of the file is like it"

    def _telling(self, file: str) -> Mapping[BaseTest, frozenset[str]]:
        """The words of each test of a file that few of the others say."""
        if (known := self._known.get(file)) is None:
            found = self._catalog.files.get(file)
            tests = [entry for entry in found.tests if not entry.test.is_rest_of_file] if found is not None else []
            said = Counter(word for entry in tests for word in _words(entry))
            common = {word for word, count in said.items() if count > len(tests) * _COMMON}
            known = self._known[file] = {entry.test: _words(entry) - common for entry in tests}
        return known


def _words(entry: CatalogTest) -> frozenset[str]:
    """Those of the text and the decorators; its own name is no word of what it does."""
    return (entry.words | entry.decorators) - {entry.test.name}


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
