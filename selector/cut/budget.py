"""A budget in seconds: which tests run when not all can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selector.cut.ground import Ground
from selector.types import BaseTest, Candidate, Reason, Stage

#: Seconds below which a test is as good as free, so that none is worth infinitely much.
_FREE_S = 0.001


@dataclass(frozen=True, slots=True)
class Budgeted:
    """What fits, in the order it was given, what does not, and what to know about it. `cut` counts the candidates that
    do not fit, `filling` the spare tests that do."""

    kept: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]
    notes: tuple[str, ...]
    cut: int = 0
    filling: int = 0


def within(
    budget_s: float, candidates: Sequence[Candidate], ground: Ground, spare: Sequence[Candidate] = ()
) -> Budgeted:
    """The tests that must run, and of the others those that most likely show a break. `spare` tests may run as well:
    they would not without a budget, and have the same chance as all others with one. On real breaks that found more
    than to ask them only for the seconds that were left.

    File by file, the likeliest to break first, and inside a file by chance per second; ties by score and then by name.
    A test that no longer fits makes room for those behind it. Files are not weighed by their seconds: which test of a
    file breaks is hardly known, so that a few quick tests of many unlikely files found less, on real breaks, than most
    tests of a few likely ones.
    """
    must_s = ground.seconds.total(it.test for it in candidates if it.must_run)
    spent = must_s
    decided: dict[BaseTest, tuple[bool, Reason]] = {}
    given = (*candidates, *spare)
    order = sorted((it for it in given if not it.must_run), key=lambda it: _rank(it, ground))
    for place, candidate in enumerate(order, start=1):
        seconds = ground.seconds.of(candidate.test)
        fits = spent + seconds <= budget_s
        told = f"place {place} of {len(order)} by likelihood, {_length(candidate.test, ground)}"
        left = f", {max(0.0, budget_s - spent):.1f} s were left" if not fits else ""
        rule = f"{'within' if fits else 'over'} the budget of {budget_s:g} s"
        decided[candidate.test] = fits, Reason(Stage.MANIFESTS, rule, told + left)
        spent += seconds if fits else 0.0
    kept = tuple(_told(it, decided) for it in given if it.must_run or decided[it.test][0])
    dropped = tuple(_told(it, decided) for it in given if not it.must_run and not decided[it.test][0])
    filling = [it.test for it in spare if decided[it.test][0]]
    cut = [it.test for it in candidates if not it.must_run and not decided[it.test][0]]
    notes = tuple(_notes(budget_s, must_s, cut, filling, ground))
    return Budgeted(kept, dropped, notes, len(cut), len(filling))


def _rank(candidate: Candidate, ground: Ground) -> tuple[float, float, float, BaseTest]:
    test, seconds = candidate.test, max(_FREE_S, ground.seconds.of(candidate.test))
    return -ground.chances.of_file(test.file), -ground.chances.of(test) / seconds, -candidate.score, test


def _length(test: BaseTest, ground: Ground) -> str:
    return f"{ground.seconds.of(test):.1f} s{'' if ground.seconds.recorded(test) else ' (assumed)'}"


def _told(candidate: Candidate, decided: dict[BaseTest, tuple[bool, Reason]]) -> Candidate:
    known = decided.get(candidate.test)
    return candidate if known is None else candidate.because(known[1])


def _notes(
    budget_s: float, must_s: float, cut: Sequence[BaseTest], filling: Sequence[BaseTest], ground: Ground
) -> Iterator[str]:
    if must_s > budget_s:
        over = f"{must_s - budget_s:.1f} s more than the budget of {budget_s:g} s"
        yield f"the tests that must run take {must_s:.1f} s, {over}; nothing else runs"
    if cut:
        yield f"{_counted(cut, ground)} left out by the budget of {budget_s:g} s"
    if filling:
        yield f"{_counted(filling, ground)} put off by stage 3 run within the budget of {budget_s:g} s"


def _counted(tests: Sequence[BaseTest], ground: Ground) -> str:
    return f"{len(tests)} {'test' if len(tests) == 1 else 'tests'} of {ground.seconds.total(tests):.1f} s"
