"""Stage 2: the rules applied, and their links joined into one candidate per test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from selector.catalog import Catalog, TestFile
from selector.change import ChangeSet, FileChange
from selector.known import NOTHING, Known
from selector.ownership.description import named_in_description
from selector.ownership.docstrings import docstring_readers
from selector.ownership.edited import edited_tests, supporting_files
from selector.ownership.executed import executed_links
from selector.ownership.links import Link, Rule
from selector.ownership.models import model_links
from selector.ownership.observed import observed_links
from selector.ownership.operators import naming_operators, operator_driven
from selector.ownership.outcomes import outcome_links
from selector.ownership.source import importing, mentions, named_alike, owned
from selector.ownership.weighing import RULE, Weighing
from selector.types import BaseTest, Candidate, Reason

RULES: tuple[Rule, ...] = (
    edited_tests,
    supporting_files,
    mentions,
    named_alike,
    importing,
    operator_driven,
    naming_operators,
    owned,
    docstring_readers,
)


@dataclass(frozen=True, slots=True)
class Ownership:
    """The candidates, best first, and the changed files that no rule tied to any test. `probabilities` (0 to 1) say for
    every test file of the catalog how likely the change breaks it."""

    candidates: tuple[Candidate, ...]
    unlinked: tuple[FileChange, ...]
    probabilities: Mapping[str, float]


def link_tests(
    change: ChangeSet,
    catalog: Catalog,
    description: str = "",
    known: Known = NOTHING,
    models: Sequence[TestFile] = (),
) -> Ownership:
    """Candidates for all relevant files of `change`. `description` is its author's untrusted text; `models` are whole
    models, which are no part of the catalog."""
    links: dict[BaseTest, _Joined] = {}
    unlinked: list[FileChange] = []
    for file in change.relevant:
        rules = (docstring_readers,) if file.only_documents else RULES
        if not _join(links, (found for rule in rules for found in rule(file, catalog))):
            unlinked.append(file)
    _join(links, named_in_description(description, catalog))
    if known.observed is not None:
        _join(links, observed_links(change, catalog.beside(models), known.observed))
    if known.outcomes is not None:
        _join(links, outcome_links(change, catalog, known.outcomes))
    if known.executed is not None:
        _join(links, executed_links(change, catalog, known.executed))
    weighing = Weighing(change, catalog, description, known.history)
    # a change that no rule ties to any test is widened or proven harmless, never guessed at
    if links and not all(file.only_documents for file in change.relevant):
        _join(links, weighing.beyond({test.file for test in links}))
    _join(links, model_links(change.relevant, models))
    candidates = (joined.candidate(test, weighing) for test, joined in links.items())
    return Ownership(tuple(sorted(candidates, key=rank)), tuple(unlinked), weighing.probabilities())


def rank(candidate: Candidate) -> tuple[bool, float, BaseTest]:
    """The one order of candidates: must-run first, then by score, then by name, so that repeats are identical."""
    return (not candidate.must_run, -candidate.score, candidate.test)


class _Joined:
    """What all rules say about one test: the strongest reason of each rule."""

    def __init__(self) -> None:
        self._best: dict[str, Reason] = {}
        self._must_run = False

    def add(self, found: Link) -> None:
        self._must_run |= found.must_run
        known = self._best.get(found.reason.rule)
        if known is None or (found.reason.score or 0) > (known.score or 0):
            self._best[found.reason.rule] = found.reason

    def candidate(self, test: BaseTest, weighing: Weighing) -> Candidate:
        reasons = tuple(reason for rule, reason in self._best.items() if rule != RULE)
        weighed = weighing.of(test.file, reasons)
        candidate = Candidate(test, reasons, self._must_run, probability=weighed.probability, signals=weighed.signals)
        return candidate.because(self._best.get(RULE) or weighed.reason)


def _join(links: dict[BaseTest, _Joined], found: Iterable[Link]) -> bool:
    """Add links to the tests they name; whether there were any."""
    joined = False
    for item in found:
        joined = True
        links.setdefault(item.test.test, _Joined()).add(item)
    return joined
