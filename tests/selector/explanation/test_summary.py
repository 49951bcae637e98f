"""A selection on one page."""

from __future__ import annotations

from selector.explanation import Decision, Tally, summarise
from selector.types import BaseTest, Candidate, Cost, Reason, Selection, SelectionState, Stage

EDITED = Reason(Stage.OWNERSHIP, "edited test", "", 1.0)


def candidate(file: str, name: str, reason: Reason, seconds: float, *, must_run: bool = False) -> Candidate:
    return Candidate(BaseTest(file, "T", name), (reason,), must_run, seconds=seconds)


def ranked(detail: str = "") -> Reason:
    return Reason(Stage.TRIAGE, f"offline ranker{detail}", "", 0.4)


def test_tests_are_counted_by_decision_and_rule() -> None:
    """The order is that of decisions, then of numbers; what a rule says of one test alone is no rule of its own."""
    kept = (
        candidate("b.py", "1", ranked(), 1.0),
        candidate("b.py", "2", ranked(" (model timed out)"), 2.0),
        candidate("a.py", "1", EDITED, 0.5, must_run=True),
    )
    over = Reason(Stage.MANIFESTS, "over the budget of 600 s", "")
    dropped = (candidate("c.py", "1", over, 9.0), candidate("c.py", "2", Reason(Stage.TRIAGE, "model: defer", ""), 1.0))
    cost = Cost(3.5, 10.0, 13.5, 0.2, 0)
    page = summarise(Selection(SelectionState.SELECTED, kept, dropped, (), (), "key", cost))
    assert page.tallies == (
        Tally(Decision.MUST_RUN, "edited test", 1, 1, 0.5),
        Tally(Decision.SELECTED, "offline ranker", 2, 1, 3.0),
        Tally(Decision.LEFT_OUT, "model: defer", 1, 1, 1.0),
        Tally(Decision.LEFT_OUT, "over the budget", 1, 1, 9.0),
    )
    assert (page.plan, page.cost) == ("key", cost)
    assert page.changes[0] == "a larger budget takes the tests that are over it"


def test_what_would_change_the_plan_follows_from_how_it_came_about() -> None:
    def changes(state: SelectionState, *dropped: Candidate) -> str:
        return "; ".join(summarise(Selection(state, (), dropped, ())).changes)

    unlisted = candidate("c.py", "1", Reason(Stage.MANIFESTS, "not_in_manifests", ""), 1.0)
    assert "a manifest that lists" in changes(SelectionState.NONE_ADMITTED, unlisted)
    assert "widening" in changes(SelectionState.WIDENED)
    assert "--full" in changes(SelectionState.NOTHING_AFFECTED)
    assert changes(SelectionState.FULL) == ""
