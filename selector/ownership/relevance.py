"""BM25 over the test files of a catalog: how much the text of a file has to do with the terms of a change.

A file is taken as the bag of its tests: a term counts once for every test that says it, itself or through a helper. So
what a whole file is about weighs more than what one of its tests mentions. Text that the file borrows counts by its
functions. Source of the formula: Robertson and
Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), 3.3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from selector.catalog import Catalog, TestFile
from selector.ownership.terms import Terms, holding, terms_of

_K1 = 1.2
_B = 0.75
_SHOWN = 3

Bags = Mapping[str, Mapping[str, int]]


class TestFileIndex:
    """The files of a catalog, reduced to the terms that will be asked for. Deterministic."""

    __test__ = False

    def __init__(self, catalog: Catalog, wanted: Iterable[str]) -> None:
        vocabulary = _vocabulary(catalog, frozenset(wanted))
        names = frozenset(vocabulary)
        bags = {path: _bag(file, vocabulary, names) for path, file in catalog.files.items()}
        self._texts = _Collection(bags, {path: _length(file) for path, file in catalog.files.items()})
        paths = {path: Counter(_path_terms(path)) for path in catalog.files}
        self._paths = _Collection(paths, {path: sum(bag.values()) for path, bag in paths.items()})

    def by_text(self, query: Terms) -> Mapping[str, float]:
        """How relevant the tests of each file are, as a share of the best."""
        return self._texts.scores(query)

    def by_path(self, query: Terms) -> Mapping[str, float]:
        """How relevant the path of each file is, as a share of the best."""
        return self._paths.scores(query)

    def shared(self, path: str, query: Terms) -> tuple[str, ...]:
        """The terms of a query that say most about one file's tests, best first."""
        return self._texts.shared(path, query)


class _Collection:
    """Documents as bags of terms with their lengths."""

    def __init__(self, bags: Bags, lengths: Mapping[str, int]) -> None:
        self._bags = bags
        mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
        self._norms = {path: _K1 * (1 - _B + _B * length / mean) for path, length in lengths.items()}
        self._spread: Counter[str] = Counter(term for bag in bags.values() for term in bag)

    def scores(self, query: Terms) -> Mapping[str, float]:
        asked = {term: weight * self._rarity(term) for term, weight in sorted(query.items()) if term in self._spread}
        raw = {path: sum(self._share(path, term) * weight for term, weight in asked.items()) for path in self._bags}
        best = max(raw.values(), default=0.0)
        return {path: round(score / best, 6) for path, score in raw.items() if score}

    def shared(self, path: str, query: Terms) -> tuple[str, ...]:
        said = [term for term in query if term in self._bags.get(path, {})]
        worth = {term: self._share(path, term) * query[term] * self._rarity(term) for term in said}
        return tuple(sorted(worth, key=lambda term: (-worth[term], term))[:_SHOWN])

    def _rarity(self, term: str) -> float:
        spread = self._spread[term]
        return math.log(1 + (len(self._bags) - spread + 0.5) / (spread + 0.5))

    def _share(self, path: str, term: str) -> float:
        count = self._bags[path].get(term, 0)
        return count * (_K1 + 1) / (count + self._norms[path])


def _vocabulary(catalog: Catalog, wanted: frozenset[str]) -> dict[str, list[str]]:
    """The words of the catalog that hold a wanted term, each with the wanted terms it holds."""
    borrowed = (part.words for file in catalog.files.values() for part in file.borrowed)
    return holding(frozenset().union(*catalog.says.values(), *borrowed), wanted)


def _bag(file: TestFile, vocabulary: Mapping[str, list[str]], names: frozenset[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    known: dict[tuple[str, str], frozenset[str]] = {}
    for test in file.tests:
        said = set(test.words & names)
        for helper in test.helpers:
            key = (helper.file, helper.symbol)
            if key not in known:
                known[key] = helper.words & names
            said |= known[key]
        counts.update(said)
    for borrowed in file.borrowed:
        counts.update(borrowed.words & names)
    bag: Counter[str] = Counter()
    for word in sorted(counts):
        for term in vocabulary[word]:
            bag[term] += counts[word]
    return bag


def _length(file: TestFile) -> int:
    return sum(map(len, file.texts()))


def _path_terms(path: str) -> list[str]:
    return [term for part in path.removesuffix(".py").split("/") for term in terms_of(part)]
