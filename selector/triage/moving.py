"""What verdicts do to the grey band: they add and raise by a bounded lot, they lower a little, and take nothing out.

A test that the model wants run is kept, and what stage 2 thinks of its file rises, so that a budget in seconds reaches
it sooner. How much a wish counts rests on how sparing the model is with wishes: one that wants nearly everything has
said nothing, and one that wants a few of a hundred files has said a lot. So a model that guesses, or says the opposite
of what is true, wants too much to be worth anything; one that tells a few well-chosen lies gets a few files run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selector.triage.answer import Verdict
from selector.types import BaseTest, Candidate

#: The share of a tree's tests that a model may add to what is kept without it.
ADDED_SHARE = 0.05
#: Tests that it may add to any tree.
ADDED = 20
#: The part of its score that a deferred test loses.
LOWERED = 0.1


@dataclass(frozen=True, slots=True)
class Moved:
    """The new scores and probabilities of the tests that changed theirs. `beyond` are tests that the model wants run
    and that its lot has no room for; `worth` (0 to 1) is what one wish counts, `wanted` of how many `asked` files."""

    scores: Mapping[BaseTest, float]
    probabilities: Mapping[BaseTest, float]
    beyond: frozenset[BaseTest]
    worth: float = 0.0
    wanted: int = 0
    asked: int = 0


UNMOVED = Moved({}, {}, frozenset())


def moved(
    band: Sequence[Candidate],
    joined: Mapping[BaseTest, float],
    verdicts: Mapping[BaseTest, Verdict],
    *,
    threshold: float,
    tests: int,
) -> Moved:
    """What the verdicts change. `joined` are the scores before, of which those from `threshold` on are kept; `tests`
    is how many the tree has."""
    judged = [it for it in band if it.test in verdicts]
    wanted = {it.test.file for it in judged if verdicts[it.test] is Verdict.RUN}
    asked = {it.test.file for it in judged}
    worth = worth_of_a_wish(len(wanted), len(asked))
    waiting = _waiting(judged, joined, verdicts, threshold)
    room = max(ADDED, int(tests * ADDED_SHARE))
    added, beyond = set(waiting[:room]), frozenset(waiting[room:])
    scores: dict[BaseTest, float] = {}
    probabilities: dict[BaseTest, float] = {}
    for it in judged:
        test, before = it.test, joined[it.test]
        if verdicts[test] is Verdict.DEFER:
            scores[test] = _lowered(before, threshold)
            continue
        scores[test] = max(before, threshold) if test in added else before
        if verdicts[test] is Verdict.RUN and test not in beyond:
            scores[test] = _raised(scores[test], worth, 4)
            probabilities[test] = _raised(it.probability, worth, 6)
    return Moved(scores, probabilities, beyond, worth, len(wanted), len(asked))


def worth_of_a_wish(wanted: int, asked: int) -> float:
    """How far a wish lifts a file towards certainty, 0 to 1, when `wanted` of `asked` files are wished for.

    A change breaks one or two files as a rule. So the wishes share one broken file among them, and count by how likely
    they are no guesses: the odds for that fall with the square of their number, against one in `asked`, which is how
    likely a guess wants any given number. Squared, because a guess costs what others would have found.
    """
    if not wanted:
        return 0.0
    believed = asked / (asked + wanted * wanted)
    return believed * believed / wanted


def _waiting(
    judged: Sequence[Candidate],
    joined: Mapping[BaseTest, float],
    verdicts: Mapping[BaseTest, Verdict],
    threshold: float,
) -> list[BaseTest]:
    """Tests that only the verdicts keep: those the model wants run, then those it is unsure about, the likeliest
    first."""
    order = {Verdict.RUN: 0, Verdict.UNSURE: 1}
    waiting = [it for it in judged if verdicts[it.test] in order and joined[it.test] < threshold]
    waiting.sort(key=lambda it: (order[verdicts[it.test]], -it.probability, -joined[it.test], it.test))
    return [it.test for it in waiting]


def _raised(value: float, worth: float, digits: int) -> float:
    return round(value + (1.0 - value) * worth, digits)


def _lowered(score: float, threshold: float) -> float:
    """What is kept stays kept."""
    return max(round(score * (1.0 - LOWERED), 4), threshold if score >= threshold else 0.0)
