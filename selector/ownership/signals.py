"""What ties a test file to a change, as numbers from 0 up that a model weighs: `file_signals`.

Each signal is one observation about one file, with the sentence a reader can check. Signals of single tests (the rules
of this room) are added by `with_rules`. Nothing here decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from selector.catalog import Catalog, EdgeKind
from selector.change import ChangeSet
from selector.known import History
from selector.ownership.kinds import KINDS, of_kind
from selector.ownership.leading import leading_to
from selector.ownership.listed import listed_together
from selector.ownership.relevance import TestFileIndex
from selector.ownership.terms import Terms, code_terms, description_terms, path_terms
from selector.types import Reason

#: The signals of files, in the order of the model's weights.
SIGNALS = (
    "paths in tests",
    "paths in path",
    "code in tests",
    "description in tests",
    "co-change share",
    "co-change",
    "walks packages",
    "walks new modules",
    "reads docstrings",
    "gradient tests",
    "operator tests",
    "leans on a changed file",
    "module tests",
    "optimizer tests",
    "listed together",
    "imports lead there",
)
#: The rules of single tests that are signals too.
RULE_SIGNALS = ("edited test", "path", "import", "mention", "operator mention")
#: Signals that need a history; without one they are unknown rather than zero, so other weights apply.
HISTORY_SIGNALS = frozenset({"co-change share", "co-change"})


@dataclass(frozen=True, slots=True)
class Signal:
    """One observation: how strong (0 and up, mostly to 1), and what was seen."""

    value: float
    evidence: str


FileSignals = Mapping[str, Mapping[str, Signal]]


def file_signals(change: ChangeSet, catalog: Catalog, description: str, history: History | None) -> FileSignals:
    """The signals of every file of the catalog that has any, by path and name."""
    found: dict[str, dict[str, Signal]] = {path: {} for path in catalog.files}
    for name, signals in (
        *_words(change, catalog, description),
        *_past(change, catalog, history),
        *((name, _seen(of_kind(change, catalog, kind))) for name, kind in KINDS.items()),
        ("leans on a changed file", _leaning(change, catalog)),
        ("listed together", _seen(listed_together(change, catalog))),
        ("imports lead there", _seen(leading_to(change, catalog))),
    ):
        for path, signal in signals.items():
            found[path][name] = signal
    return found


def with_rules(signals: Mapping[str, Signal], reasons: Iterable[Reason]) -> dict[str, Signal]:
    """The signals of a file together with what the rules say about one of its tests."""
    joined = dict(signals)
    for reason in reasons:
        known = joined.get(reason.rule)
        if reason.rule in RULE_SIGNALS and (known is None or known.value < (reason.score or 0.0)):
            joined[reason.rule] = Signal(reason.score or 0.0, reason.evidence)
    return joined


def _words(change: ChangeSet, catalog: Catalog, description: str) -> Iterable[tuple[str, dict[str, Signal]]]:
    paths, code, words = path_terms(change), code_terms(change), description_terms(description)
    index = TestFileIndex(catalog, {*paths, *code, *words})
    yield "paths in path", _shares(index.by_path(paths), lambda path: f"{path} is named like a changed path")
    for name, query in (("paths in tests", paths), ("code in tests", code), ("description in tests", words)):
        yield name, _shares(index.by_text(query), _saying(index, query))


def _seen(found: Mapping[str, tuple[float, str]]) -> dict[str, Signal]:
    return {path: Signal(value, evidence) for path, (value, evidence) in found.items()}


def _saying(index: TestFileIndex, query: Terms) -> Callable[[str], str]:
    return lambda path: f"says {', '.join(index.shared(path, query))}"


def _shares(scores: Mapping[str, float], evidence: Callable[[str], str]) -> dict[str, Signal]:
    return {path: Signal(score, evidence(path)) for path, score in scores.items()}


def _past(change: ChangeSet, catalog: Catalog, history: History | None) -> Iterable[tuple[str, dict[str, Signal]]]:
    if history is None:
        return
    partners = history.changed_with([path for file in change.files for path in file.paths])
    strength: dict[str, float] = {}
    nearest: dict[str, tuple[float, str]] = {}
    for path in sorted(partners):
        for other, weight in partners[path].items():
            if other in catalog.files:
                strength[other] = strength.get(other, 0.0) + weight
                nearest[other] = max(nearest.get(other, (0.0, "")), (weight, path))
    best = max(strength.values(), default=1.0)
    evidence = {path: f"changed with {nearest[path][1]} in the year before" for path in strength}
    yield "co-change share", {path: Signal(round(strength[path] / best, 6), evidence[path]) for path in strength}
    yield "co-change", {path: Signal(round(math.log1p(strength[path]), 6), evidence[path]) for path in strength}


def _leaning(change: ChangeSet, catalog: Catalog) -> dict[str, Signal]:
    """Test files that subclass, run again, start or borrow from a changed file."""
    changed = {path for file in change.files for path in file.paths}
    found = {
        path: edge
        for path, file in catalog.files.items()
        for edge in reversed(file.edges)
        if edge.path in changed and edge.kind is not EdgeKind.IMPORT
    }
    borrowing = {
        path: Signal(1.0, f"runs {part.symbol or 'code'} of {part.file}")
        for path, file in catalog.files.items()
        for part in file.borrowed
        if part.file in changed
    }
    leaning = {path: Signal(1.0, f"{edge.kind}: {edge.evidence} ({edge.path})") for path, edge in found.items()}
    return borrowing | leaning
