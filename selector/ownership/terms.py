"""What a change is about, in terms that test files can be searched for: from its paths, its code and its words.

A term is a lower-case part of a name, or the whole name when it has several parts: `linalg`, `pinv` and `linalg_pinv`.
"""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from selector.change import ChangeSet
from selector.ownership.kinds import HARMLESS

Terms = Mapping[str, float]

_PART = re.compile(r"[A-Z]?[a-z0-9]{2,}|[A-Z]{2,}(?![a-z])")
_PART_OR_END = re.compile(rf"{_PART.pattern}|\n")
_WORD = re.compile(r"[^\W\d]\w*")
#: Words of every test, and of the language.
_COMMON = frozenset(
    {
        "test",
        "tests",
        "testing",
        "torch",
        "py",
        "init",
        "case",
        "self",
        "def",
        "return",
        "import",
        "from",
        "the",
        "and",
        "for",
        "with",
        "none",
        "true",
        "false",
        "not",
    }
)
_DESCRIPTION_CAP = 4_000
_CODE_CAP = 1_000_000
#: How much more a changed name says than a word that merely stands in a changed line.
_NAME_WEIGHT = 3.0


@lru_cache(maxsize=500_000)
def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one identifier, without those that every test has."""
    parts = [part.lower() for part in _PART.findall(word)]
    whole = [word.lower()] if len(parts) > 1 else []
    return tuple(term for term in dict.fromkeys((*parts, *whole)) if term not in _COMMON)


def holding(words: Iterable[str], wanted: frozenset[str]) -> dict[str, list[str]]:
    """The words that hold a wanted term, each with the wanted terms it holds. The same as asking `terms_of` for each,
    in a fifth of the time: all of a tree's words are taken apart by one search."""
    ordered = list(words)
    held: dict[str, list[str]] = {}
    taken_apart = " ".join(_PART_OR_END.findall("".join(f"{word}\n" for word in ordered))).lower().split("\n")
    for word, line in zip(ordered, taken_apart, strict=False):  # after the last end of a word is one empty line more
        parts = line.split()
        if len(parts) > 1:
            parts.append(word.lower())
        if not wanted.isdisjoint(parts):
            held[word] = [term for term in dict.fromkeys(parts) if term in wanted]
    return held


def path_terms(change: ChangeSet) -> Terms:
    """Terms of the changed paths, those before a rename included."""
    paths = " ".join(path for file in change.files for path in file.paths)
    return dict.fromkeys(_terms_of_text(paths), 1.0)


def code_terms(change: ChangeSet) -> Terms:
    """Terms of the changed lines, weighed by the logarithm of how often they stand there, and of the changed names with
    those of their callers and operators."""
    counts: Counter[str] = Counter()
    for file in change.files:
        words = Counter(word for word in _WORD.findall(file.text[:_CODE_CAP]) if len(word) > 2)
        for word, count in words.items():
            if not keyword.iskeyword(word):
                counts.update(dict.fromkeys(terms_of(word), count))
    weights = {term: 1.0 + math.log(count) for term, count in counts.items()}
    for name in _changed_names(change):
        for term in terms_of(name):
            weights[term] = max(weights.get(term, 0.0), _NAME_WEIGHT)
    return weights


def description_terms(description: str) -> Terms:
    """Terms of the author's words. Untrusted, and cut to a few thousand characters."""
    return dict.fromkeys(_terms_of_text(description[:_DESCRIPTION_CAP]), 1.0)


def _changed_names(change: ChangeSet) -> set[str]:
    """Names of what changed, of its callers and of the operators it is about."""
    named = {reached.name for file in change.files for reached in file.reached}
    symbols = {symbol for file in change.files for symbol in file.symbols}
    symbols.update(name for fact in change.facts if fact.effect not in HARMLESS for name in (fact.symbol, fact.op))
    return named.union(part for symbol in symbols for part in _WORD.findall(symbol))


def _terms_of_text(text: str) -> list[str]:
    words = dict.fromkeys(_WORD.findall(text))
    return list(dict.fromkeys(term for word in words for term in terms_of(word)))
