"""What runs when not everything can."""

from __future__ import annotations

from selector.cut.budget import within
from tests.selector.cut.ground import base_test, candidate, ground


def test_the_likeliest_files_run_first() -> None:
    """However long their tests are; what no longer fits makes room for what does."""
    likely, less, idle = (
        candidate("a", 0, probability=0.2),
        candidate("b", 0, probability=0.1),
        candidate("c", 0, probability=0.01),
    )
    seconds = {str(likely.test): 4.0, str(less.test): 2.0, str(idle.test): 1.0}
    budgeted = within(5.0, [idle, less, likely], ground([likely, less, idle], seconds=seconds))
    assert [it.test for it in budgeted.kept] == [idle.test, likely.test]
    (dropped,) = budgeted.dropped
    assert dropped.reasons[-1].rule == "over the budget of 5 s"
    assert dropped.reasons[-1].evidence == "place 2 of 3 by likelihood, 2.0 s, 1.0 s were left"
    assert budgeted.kept[0].reasons[-1].evidence == "place 3 of 3 by likelihood, 1.0 s"
    assert budgeted.notes == ("1 test of 2.0 s left out by the budget of 5 s",)


def test_inside_a_file_a_long_test_has_to_be_worth_its_seconds() -> None:
    short, long = candidate("a", 0, score=0.4), candidate("a", 1, score=0.6)
    on = ground([short, long], seconds={str(short.test): 1.0, str(long.test): 3.0})
    assert [it.test for it in within(3.0, [long, short], on).kept] == [short.test]


def test_tests_that_must_run_stay_beyond_the_budget() -> None:
    must = [candidate("a", number, must_run=True) for number in range(3)]
    budgeted = within(2.0, [*must, candidate("b", 0)], ground(must))
    assert [it.test for it in budgeted.kept] == [it.test for it in must]
    assert all(not it.reasons for it in budgeted.kept)
    assert budgeted.notes[0] == (
        "the tests that must run take 3.0 s, 1.0 s more than the budget of 2 s; nothing else runs"
    )


def test_ties_are_broken_by_score_and_then_by_name() -> None:
    alike = [candidate("a", number) for number in (3, 1, 2)]
    budgeted = within(2.0, alike, ground(alike))
    assert [it.test for it in budgeted.kept] == [base_test("a", 1), base_test("a", 2)]
    unlikely = [candidate("a", 1, score=0.4, probability=0.0), candidate("b", 1, score=0.6, probability=0.0)]
    assert [it.test for it in within(1.0, unlikely, ground(unlikely)).kept] == [base_test("b", 1)]


def test_the_order_of_what_runs_is_that_of_the_stages() -> None:
    given = [candidate("a", 0, probability=0.1), candidate("b", 0, probability=0.3)]
    assert [it.test for it in within(9.0, given, ground(given)).kept] == [it.test for it in given]


def test_no_seconds_leave_nothing_but_what_must_run() -> None:
    given = [candidate("a", 0), candidate("a", 1, must_run=True)]
    assert [it.test for it in within(0.0, given, ground(given)).kept] == [base_test("a", 1)]


def test_an_assumed_duration_is_called_so() -> None:
    given = [candidate("a", 0)]
    (kept,) = within(9.0, given, ground(given)).kept
    assert kept.reasons[-1].evidence.endswith("1.0 s (assumed)")


def test_spare_tests_have_the_same_chance_as_all_others_and_are_counted_apart() -> None:
    wanted, spare, unlikely = (
        candidate("a", 0, probability=0.1),
        candidate("b", 0, probability=0.2),
        candidate("b", 1, probability=0.2),
    )
    seconds = {str(spare.test): 1.0, str(wanted.test): 1.0, str(unlikely.test): 9.0}
    on = ground([wanted, spare, unlikely], seconds=seconds)
    budgeted = within(2.0, [wanted], on, [spare, unlikely])
    assert [it.test for it in budgeted.kept] == [wanted.test, spare.test]
    assert [it.test for it in budgeted.dropped] == [unlikely.test]
    assert (budgeted.cut, budgeted.filling) == (0, 1)
    assert budgeted.notes == ("1 test of 1.0 s put off by stage 3 run within the budget of 2 s",)
    narrow = within(1.0, [wanted], on, [spare, unlikely])
    assert [it.test for it in narrow.kept] == [spare.test]
    assert (narrow.cut, narrow.filling) == (1, 1)


def test_spare_tests_take_nothing_from_those_that_must_run() -> None:
    must, spare = candidate("a", 0, must_run=True, probability=0.0), candidate("b", 0, probability=0.9)
    budgeted = within(1.0, [must], ground([must, spare]), [spare])
    assert [it.test for it in budgeted.kept] == [must.test]
    assert budgeted.notes == ()
