"""What verdicts do to the order of the grey band: a bounded lot, at every place where the order may be cut.

The places keep their scores, and the tests change places. A tenth of the places is for tests that the model wants run;
a test that it defers goes down by a tenth of its rank. So a model that is wrong about everything costs, at any budget,
what a budget smaller by a fifth would cost, and a model that is right gets its tests in first. Below the threshold it
may add a few tests, never more than a tenth of what is kept anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selector.triage.answer import Verdict
from selector.types import BaseTest

#: One place in so many is the model's.
SHARE = 10
#: Tests it may add below the threshold when few are kept.
ADDED = 20


@dataclass(frozen=True, slots=True)
class Moved:
    """The new score of every test of the band. `beyond` are tests the model wants run that its share has no place
    for."""

    scores: Mapping[BaseTest, float]
    beyond: frozenset[BaseTest]


def moved(scores: Mapping[BaseTest, float], verdicts: Mapping[BaseTest, Verdict], threshold: float) -> Moved:
    """The scores after the verdicts. Tests without one, and ties, stay in the order of score and name."""
    order = sorted(scores, key=lambda test: (-scores[test], test))
    ladder = [scores[test] for test in order]
    wanted = _wanted(order, scores, verdicts, threshold)
    after = list(_interleaved(_regular(order, verdicts), wanted))
    new = dict(zip(after, ladder, strict=True))
    kept = sum(score >= threshold for score in ladder)
    waiting = [test for test in wanted if new[test] < threshold]
    added = waiting[: max(ADDED, kept // SHARE)]
    return Moved({**new, **dict.fromkeys(added, threshold)}, frozenset(waiting[len(added) :]))


def _wanted(
    order: Sequence[BaseTest],
    scores: Mapping[BaseTest, float],
    verdicts: Mapping[BaseTest, Verdict],
    threshold: float,
) -> list[BaseTest]:
    """Tests for the model's places: those it wants run, then those it is unsure about that would not run."""
    run = [test for test in order if verdicts.get(test) is Verdict.RUN]
    return run + [test for test in order if verdicts.get(test) is Verdict.UNSURE and scores[test] < threshold]


def _regular(order: Sequence[BaseTest], verdicts: Mapping[BaseTest, Verdict]) -> list[BaseTest]:
    def rank(place: tuple[int, BaseTest]) -> tuple[float, int]:
        number, test = place
        return (number * (1 + 1 / SHARE) if verdicts.get(test) is Verdict.DEFER else float(number)), number

    return [test for _, test in sorted(enumerate(order, start=1), key=rank)]


def _interleaved(regular: Sequence[BaseTest], wanted: Sequence[BaseTest]) -> Iterator[BaseTest]:
    placed: set[BaseTest] = set()
    first, second = iter(regular), iter(wanted)
    for place in range(1, len(regular) + 1):
        chosen = _next(second, placed) if place % SHARE == 0 else None
        chosen = chosen or _next(first, placed)
        if chosen is not None:
            placed.add(chosen)
            yield chosen


def _next(tests: Iterator[BaseTest], placed: set[BaseTest]) -> BaseTest | None:
    return next((test for test in tests if test not in placed), None)
