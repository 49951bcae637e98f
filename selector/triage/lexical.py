"""The offline ranker: BM25 of a change's words against each test's, joined with what stage 2 knows.

Deterministic, without a model or any package. It is the reference behaviour of stage 3. Weights and threshold are
chosen by hand, not learned.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selector.catalog import CatalogTest
from selector.change import ChangeSet
from selector.source import words
from selector.types import BaseTest, Candidate

#: A test stays when the mean of its ownership score and its lexical score reaches this. An ownership score of 0.6
#: stays by itself; an owner label alone (0.3) needs a lexical score of 0.3.
KEEP_AT = 0.3
_K1, _B = 1.2, 0.75
_QUERY_CAP = 3_000
#: How much more a changed name says than a word that merely stands in a changed line.
_NAME_WEIGHT = 4.0
_PART = re.compile(r"[A-Z]?[a-z0-9]{2,}|[A-Z]{2,}(?![a-z])")
_NAME_PARTS_TO_SKIP = frozenset({"test", "tests", "testing", "torch", "py", "init", "case"})


@dataclass(frozen=True, slots=True)
class LexicalScore:
    """`value` is 0 to 1, relative to the best test asked about; `shared` are the words that say most, best first."""

    value: float
    shared: tuple[str, ...]


class LexicalRanker:
    """Ranks tests of a catalog for one change; inverse document frequencies are those of `tests`."""

    def __init__(self, change: ChangeSet, title: str, tests: Sequence[CatalogTest]) -> None:
        names = {reached.name for file in change.relevant for reached in file.reached}
        query = _query(change, title, names)
        self._documents = {test.test: _shared_words(test, query) for test in tests}
        self._lengths = {test.test: len(test.words) for test in tests}
        self._weights = _weights(self._documents.values(), names)
        self._mean_length = sum(self._lengths.values()) / max(1, len(self._lengths)) or 1.0

    def scores(self, candidates: Sequence[Candidate]) -> dict[BaseTest, LexicalScore]:
        """The lexical score of each candidate."""
        raw = {candidate.test: self._raw(candidate.test) for candidate in candidates}
        best = max(raw.values(), default=0.0)
        return {
            test: LexicalScore(round(score / best, 4) if best else 0.0, self._shared(test))
            for test, score in raw.items()
        }

    def _raw(self, test: BaseTest) -> float:
        length = self._lengths.get(test, 0) / self._mean_length
        # a word counts once per test, which is what makes the frequency term a constant of the length
        saturation = (_K1 + 1) / (1 + _K1 * (1 - _B + _B * length))
        return sum(self._weights[word] for word in sorted(self._documents.get(test, ()))) * saturation

    def _shared(self, test: BaseTest) -> tuple[str, ...]:
        found = self._documents.get(test, frozenset())
        return tuple(sorted(found, key=lambda word: (-self._weights[word], word))[:3])


def joined_score(candidate: Candidate, lexical: LexicalScore) -> float:
    """The score stage 3 decides by: the mean of both stages, rounded to be reproducible."""
    return round((candidate.score + lexical.value) / 2, 4)


def _query(change: ChangeSet, title: str, said: set[str]) -> frozenset[str]:
    """Words of the changed lines, changed names, and parts of the changed paths and of the title."""
    parts = {part for text in (title, *(file.path for file in change.relevant)) for part in name_parts(text)}
    lines = {word for file in change.relevant for word in words(file.text.replace("\n+", "\n").replace("\n-", "\n"))}
    fresh = sorted(word for word in lines - said if len(word) > 2 and not keyword.iskeyword(word))
    return frozenset({*sorted(said)[:_QUERY_CAP], *fresh[:_QUERY_CAP], *parts})


def _shared_words(test: CatalogTest, query: frozenset[str]) -> frozenset[str]:
    names = name_parts(f"{test.test.file} {test.test.cls} {test.test.name}")
    helped = (helper.words & query for helper in test.helpers)
    return (test.words & query).union(names & query, *helped)


def name_parts(text: str) -> frozenset[str]:
    """Lower-case parts of names: `unravel`, `index` of `test_unravel_index`; `linear`, `relu` of `LinearReLU`."""
    parts = (part.lower() for part in _PART.findall(text[:10_000]))
    return frozenset(part for part in parts if part not in _NAME_PARTS_TO_SKIP)


def _weights(documents: Iterable[frozenset[str]], names: set[str]) -> dict[str, float]:
    counts: dict[str, int] = {}
    total = 0
    for document in documents:
        total += 1
        for word in document:
            counts[word] = counts.get(word, 0) + 1
    return {
        word: math.log(1 + (total - count + 0.5) / (count + 0.5)) * (_NAME_WEIGHT if word in names else 1.0)
        for word, count in counts.items()
    }
