"""From what the stages kept to what runs: budget, then holdout, then what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selector.cut.budget import within
from selector.cut.ground import Ground
from selector.cut.holdout import drawn
from selector.cut.request import Cut
from selector.types import Candidate, Cost, Stage


@dataclass(frozen=True, slots=True)
class CutPlan:
    """The tests that run and those that do not, the budget's and the lot's doing included. `words` say in short what
    was cut and added, empty when nothing was."""

    kept: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]
    cost: Cost
    words: str
    notes: tuple[str, ...]


def cut_plan(kept: Sequence[Candidate], dropped: Sequence[Candidate], ground: Ground, cut: Cut, key: str) -> CutPlan:
    """Cut what the stages kept; `dropped` is what they did not. The holdout, whose lot `key` decides, comes on top of
    the budget."""
    planned, out = tuple(kept), tuple(dropped)
    words, notes = list[str](), list[str]()
    if cut.full:
        notes += _not_applied(cut)
        return _timed(planned, out, ground, "", notes)
    if cut.budget_s is not None:
        put_off = _put_off(planned, out, ground)
        budgeted = within(cut.budget_s, planned, ground, put_off)
        spare = {it.test for it in put_off}
        planned, out = budgeted.kept, (*(it for it in out if it.test not in spare), *budgeted.dropped)
        words.append(f"{budgeted.cut} over the budget")
        words += [f"{budgeted.filling} put off run within it"] if budgeted.filling else []
        notes += budgeted.notes
    if cut.holdout:
        held = drawn(ground.left_out({it.test for it in planned}, out), cut.holdout, key)
        runs = {candidate.test for candidate in held}
        planned, out = (*planned, *held), tuple(it for it in out if it.test not in runs)
        if held:
            words.append(f"{len(held)} by lot")
            notes.append(_held_note(held, ground))
    return _timed(planned, out, ground, ", ".join(words), notes)


def _put_off(kept: Sequence[Candidate], dropped: Sequence[Candidate], ground: Ground) -> list[Candidate]:
    """What stage 3 put off and the device could run."""
    put_off = {it.test for it in dropped if it.reasons and it.reasons[-1].stage is Stage.TRIAGE}
    return [it for it in ground.left_out({it.test for it in kept}, dropped) if it.test in put_off] if put_off else []


def _timed(
    planned: Sequence[Candidate], out: Sequence[Candidate], ground: Ground, words: str, notes: Sequence[str]
) -> CutPlan:
    """The plan with the seconds of every test in it."""
    kept, dropped = (tuple(map(ground.timed, candidates)) for candidates in (planned, out))
    return CutPlan(kept, dropped, _cost(kept, ground), words, tuple(notes))


def _not_applied(cut: Cut) -> Iterator[str]:
    if cut.budget_s is not None:
        yield f"the budget of {cut.budget_s:g} s does not count, because everything was asked for"


def _held_note(held: Sequence[Candidate], ground: Ground) -> str:
    seconds = ground.seconds.total(it.test for it in held)
    noun = "test" if len(held) == 1 else "tests"
    return f"{len(held)} {noun} of {seconds:.1f} s run by lot although left out, to see what the selection misses"


def _cost(planned: Sequence[Candidate], ground: Ground) -> Cost:
    runs = {candidate.test for candidate in planned}
    left = [test for test in ground.tests if test not in runs]
    expected, saved = ground.seconds.total(runs), ground.seconds.total(left)
    return Cost(
        expected_s=round(expected, 3),
        saved_s=round(saved, 3),
        full_s=round(expected + saved, 3),
        expected_misses=round(math.fsum(map(ground.chances.of, left)), 4),
        assumed=sum(candidate.assumed for candidate in planned),
    )
