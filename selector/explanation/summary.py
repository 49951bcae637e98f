"""A selection on one page: counts for each reason, seconds, risk, and what would change the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selector.explanation.record import Decision, deciding, decision_of
from selector.manifests.decision import NOT_IN_MANIFESTS
from selector.types import Candidate, Cost, Selection, SelectionState

_ORDER = tuple(Decision)
#: What a rule says of this one test, its verdict, or how a model failed, beside what it is.
_PARTICULARS = re.compile(r" \(.*\)$| of [\d.e+]+ s$")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many tests, of how many files, one rule decided in one way, and their seconds."""

    decision: Decision
    rule: str
    tests: int
    files: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The page. `cost` is None where the diff alone was enough, `changes` say what would make it another plan."""

    state: SelectionState
    plan: str
    tallies: tuple[Tally, ...]
    cost: Cost | None
    changes: tuple[str, ...]


def summarise(selection: Selection) -> Summary:
    """The page about a selection."""
    groups: dict[tuple[Decision, str], list[Candidate]] = {}
    for kept, candidates in ((True, selection.kept), (False, selection.dropped)):
        for candidate in candidates:
            reason = deciding(candidate, kept)
            rule = _PARTICULARS.sub("", reason.rule) if reason else "no reason"
            groups.setdefault((decision_of(candidate, kept), rule), []).append(candidate)
    tallies = sorted(map(_tally, groups.items()), key=lambda it: (_ORDER.index(it.decision), -it.tests, it.rule))
    return Summary(selection.state, selection.key, tuple(tallies), selection.cost, tuple(_changes(selection)))


def _tally(group: tuple[tuple[Decision, str], list[Candidate]]) -> Tally:
    (decision, rule), candidates = group
    files = {candidate.test.file for candidate in candidates}
    seconds = sum(candidate.seconds for candidate in candidates)
    return Tally(decision, rule, len(candidates), len(files), round(seconds, 3))


def _changes(selection: Selection) -> Iterator[str]:
    """The nearest ways to another plan, by how this one came about."""
    rules = {candidate.reasons[-1].rule for candidate in selection.dropped if candidate.reasons}
    if selection.state is SelectionState.WIDENED:
        yield "a change without the causes of the widening, which the notes name, is judged test by test"
    if any(rule.startswith("over the budget") for rule in rules):
        yield "a larger budget takes the tests that are over it"
    elif selection.state is SelectionState.WIDENED:
        yield "a budget in seconds keeps the likeliest of these tests, and those that must run"
    if NOT_IN_MANIFESTS in rules:
        yield "a manifest that lists the affected files lets their tests run"
    if selection.state is not SelectionState.FULL:
        yield "--full, or the label `full`, runs everything that the manifests admit"
