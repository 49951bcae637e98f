"""Budget, holdout and full together, and what a plan costs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from selector.cut import WHOLE, Cut, cut_plan
from selector.types import Candidate, Cost, Reason, Stage
from tests.selector.cut.ground import base_test, candidate, ground, listing

KEPT = (candidate("a", 0, must_run=True, score=1.0), candidate("a", 1, score=0.6))
OUT = (candidate("a", 2, score=0.4), candidate("b", 0, score=0.2, probability=0.05))


def names(candidates: Iterable[Candidate]) -> list[str]:
    return [str(it.test) for it in candidates]


def test_every_test_of_a_plan_has_its_seconds() -> None:
    plan = cut_plan(KEPT, OUT, ground((*KEPT, *OUT), seconds={str(base_test("a", 2)): 3.0}), WHOLE, "key")
    assert [(it.seconds, it.assumed) for it in (*plan.kept, *plan.dropped)] == [(3.0, True)] * 2 + [
        (3.0, False),
        (3.0, True),
    ]


def test_without_a_wish_nothing_is_cut() -> None:
    plan = cut_plan(KEPT, OUT, ground((*KEPT, *OUT)), WHOLE, "key")
    assert (names(plan.kept), names(plan.dropped), plan.words, plan.notes) == (names(KEPT), names(OUT), "", ())


def test_what_a_plan_costs_and_risks() -> None:
    """16 tests in all, 2 planned. A fifth of the scores of the one file is left out, and all of the other; the third,
    which no stage considered, counts too."""
    seconds = {str(base_test("a", 0)): 3.0}
    on = ground((*KEPT, *OUT), seconds=seconds, probabilities={"test/test_c.py": 0.01})
    cost = cut_plan(KEPT, OUT, on, WHOLE, "key").cost
    assert cost == Cost(expected_s=6.0, saved_s=42.0, full_s=48.0, expected_misses=0.1 * 0.2 + 0.05 + 0.01, assumed=1)


def test_what_the_device_cannot_run_costs_nothing_and_is_not_missed() -> None:
    on = ground((*KEPT, *OUT), probabilities={"test/test_c.py": 0.01}, manifests=listing("test/test_a.py"))
    cost = cut_plan(KEPT, OUT, on, WHOLE, "key").cost
    assert (cost.full_s, cost.saved_s) == (4.0, 2.0)
    assert cost.expected_misses == pytest.approx(0.1 * 0.2)


def test_everything_asked_for_is_neither_cut_nor_drawn() -> None:
    plan = cut_plan(KEPT, OUT, ground((*KEPT, *OUT)), Cut(0.0, 1.0, "label full"), "key")
    assert (names(plan.kept), names(plan.dropped)) == (names(KEPT), names(OUT))
    assert plan.notes == ("the budget of 0 s does not count, because everything was asked for",)


def test_the_lot_takes_from_all_that_could_run_and_does_not() -> None:
    """What triage dropped, what the budget dropped, and what no stage considered, each with its own reasons before
    that of the lot; what no manifest lists is never drawn."""
    on = ground((*KEPT, *OUT), manifests=listing("test/test_a.py", "test/test_b.py"))
    plan = cut_plan(KEPT, OUT, on, Cut(budget_s=1.0, holdout=1.0), "key")
    rules = {str(it.test).rpartition("::")[2]: [reason.rule for reason in it.reasons] for it in plan.kept}
    assert {it.test.file for it in plan.kept} == {"test/test_a.py", "test/test_b.py"}
    assert (len(plan.kept), plan.dropped) == (6, ())
    assert rules["test_2"] == ["unlisted", "holdout"]
    assert rules["test_3"] == ["not tied to the change", "unlisted", "holdout"]
    over = next(it for it in plan.kept if it.test == base_test("a", 1))
    assert [reason.rule for reason in over.reasons] == ["over the budget of 1 s", "holdout"]
    assert plan.words == "1 over the budget, 5 by lot"
    assert plan.cost.saved_s == 0.0
    assert {it.reasons[-1].stage for it in plan.kept if it.reasons} == {Stage.MANIFESTS}


def test_what_was_drawn_is_no_longer_left_out() -> None:
    plan = cut_plan(KEPT, OUT, ground((*KEPT, *OUT)), Cut(holdout=0.5), "key")
    drawn = {it.test for it in plan.kept[len(KEPT) :]}
    assert drawn
    assert not drawn & {it.test for it in plan.dropped}
    assert "run by lot" in plan.notes[0]


def put_off(file: str, number: int) -> Candidate:
    return candidate(file, number, score=0.3).because(Reason(Stage.TRIAGE, "offline ranker", "0.30", 0.3))


def test_a_budget_is_filled_with_what_stage_3_put_off_and_the_device_can_run() -> None:
    out = (put_off("a", 2), put_off("a", 3), put_off("b", 0), *OUT[1:])
    on = ground((*KEPT, *out), manifests=listing("test/test_a.py"))
    plan = cut_plan(KEPT, out, on, Cut(budget_s=3.0), "key")
    assert names(plan.kept) == names((*KEPT, out[0]))
    assert names(plan.dropped) == names((out[2], *OUT[1:], out[1]))
    rules = [[reason.rule for reason in it.reasons] for it in (plan.kept[-1], plan.dropped[-1], plan.dropped[0])]
    assert rules == [
        ["offline ranker", "unlisted", "within the budget of 3 s"],
        ["offline ranker", "unlisted", "over the budget of 3 s"],
        ["offline ranker"],
    ]
    assert plan.words == "0 over the budget, 1 put off run within it"


def test_without_a_budget_what_was_put_off_stays_so() -> None:
    out = (put_off("a", 2),)
    assert cut_plan(KEPT, out, ground((*KEPT, *out)), WHOLE, "key").dropped[0].test == out[0].test
