"""Selector values as messages: shards, caps, and the split into planned and filtered."""

from __future__ import annotations

from dataclasses import replace

from relay.contract import HOLDOUT_RULE, Expected, NotTestedReason
from selector.change import Category, ChangeSet, FileChange, Status
from selector.cut.holdout import RULE
from selector.types import (
    BaseTest,
    Candidate,
    Cost,
    Expectation,
    Mode,
    PlannedTest,
    Reason,
    Selection,
    SelectionState,
    Stage,
    StageCount,
)
from tests.workers.scripted_runner import collected
from workers.shards.packing import FILE_S, ShardRoom
from workers.shards.report import Plan, capped, not_tested, selection_report

CHANGE = ChangeSet((FileChange("torch/a.py", None, Status.MODIFIED, Category.PYTHON_SOURCE, ("f",) * 80),))
ROOM = ShardRoom(tests=10, seconds=300.0)
X, Y = collected("test/test_a.py", "TestA", "test_x", "_a", "_b")


def candidate(evidence: str = "seen") -> Candidate:
    return Candidate(BaseTest("test/test_a.py", "TestA", "test_x"), (Reason(Stage.OWNERSHIP, "edited test", evidence),))


def selection(*kept: Candidate, notes: tuple[str, ...] = ()) -> Selection:
    count = StageCount(Stage.CHANGE, 1, 1, "files", "one file")
    return Selection(SelectionState.SELECTED, kept, (), (count,), notes)


def test_planned_and_filtered_are_told_apart_by_mode() -> None:
    plan = Plan(
        (
            PlannedTest(X, Expectation(Mode.XFAIL, "listed", "m.yaml:3", ("tag",))),
            PlannedTest(Y, Expectation(Mode.SKIP, "dtype_unsupported", "m.yaml:4")),
        )
    )
    report = selection_report(CHANGE, selection(candidate()), plan, room=ROOM, base_sha="a" * 40)
    assert [(test.id, test.expected, test.tags) for test in report.planned] == [(X.id, Expected.XFAIL, ("tag",))]
    assert [(test.id, test.rule) for test in report.filtered] == [(Y.id, "dtype_unsupported")]
    assert report.shards == ((X.id,),)
    assert report.planned[0].base == report.decisions[0].test == "test/test_a.py::TestA::test_x"


def test_what_a_test_was_generated_for_and_how_it_wants_to_run_are_told() -> None:
    det = replace(X, op="linalg.det", dtype="float32")
    wishes = Expectation(Mode.MANDATORY_SUCCESS, "listed", "m.yaml:3", isolate=True, timeout_s=7.0)
    plain = Expectation(Mode.MANDATORY_SUCCESS, "listed", "m.yaml:4")
    plan = Plan((PlannedTest(det, wishes), PlannedTest(Y, plain)))
    told = selection_report(CHANGE, selection(candidate()), plan, room=ROOM, base_sha="").planned
    assert [(test.op, test.dtype, test.isolate, test.timeout_s) for test in told] == [
        ("linalg.det", "float32", True, 7.0),
        ("", "", False, None),
    ]


def test_a_test_of_the_rest_of_a_file_names_the_decision_about_the_rest() -> None:
    """Every planned test finds its chain of reasons."""
    rest = Candidate(BaseTest("test/test_a.py", "", ""), (Reason(Stage.OWNERSHIP, "edited test", "seen"),))
    plan = Plan((PlannedTest(X, Expectation(Mode.MANDATORY_SUCCESS, "unlisted", "m.yaml:3")),))
    report = selection_report(CHANGE, selection(rest), plan, room=ROOM, base_sha="")
    assert report.planned[0].base == report.decisions[0].test == "test/test_a.py"
    described = selection_report(CHANGE, selection(rest, candidate()), plan, room=ROOM, base_sha="")
    assert described.planned[0].base == "test/test_a.py::TestA::test_x"


def test_the_funnel_has_one_step_for_the_manifests() -> None:
    """It counts base tests of which a variant runs, and says how many variants there are."""
    steps = (StageCount(Stage.CHANGE, 1, 1, "files", "one file"), StageCount(Stage.MANIFESTS, 5, 3, "tests", "listed"))
    selected = Selection(SelectionState.SELECTED, (candidate(),), (), steps)
    plan = Plan(
        (
            PlannedTest(X, Expectation(Mode.XFAIL, "listed", "m.yaml:3")),
            PlannedTest(Y, Expectation(Mode.SKIP, "dtype_unsupported", "m.yaml:4")),
        )
    )
    report = selection_report(CHANGE, selected, plan, room=ROOM, base_sha="")
    assert [(step.stage, step.entered, step.left, step.summary) for step in report.funnel] == [
        (1, 1, 1, "one file"),
        (4, 5, 1, "listed; 1 of 2 tests generated from them are to run"),
    ]
    unplanned = selection_report(CHANGE, selected, Plan(), room=ROOM, base_sha="")
    assert (unplanned.funnel[1].left, unplanned.funnel[1].summary) == (3, "listed")


def test_what_a_plan_costs_and_risks_is_told_with_its_key() -> None:
    chosen = replace(candidate(), seconds=2.5, probability=0.25)
    made = replace(selection(chosen), key="1a2b", cost=Cost(2.5, 97.5, 100.0, 0.02, 0))
    report = selection_report(CHANGE, made, Plan(), room=ROOM, base_sha="")
    assert (report.plan_key, report.expected_seconds, report.seconds_saved) == ("1a2b", 2.5, 97.5)
    assert report.expected_misses == 0.02
    assert [(decision.seconds, decision.probability) for decision in report.decisions] == [(2.5, 0.25)]


def test_a_plan_that_is_not_carried_out_keeps_its_key_and_tells_no_cost() -> None:
    made = replace(selection(candidate()), key="1a2b", cost=Cost(2.5, 97.5, 100.0, 0.02, 0))
    refused = not_tested(NotTestedReason.SKEW, "the wheel does not fit")
    report = selection_report(CHANGE, made, Plan(), room=ROOM, base_sha="", not_tested=refused)
    assert (report.plan_key, report.expected_seconds, report.seconds_saved) == ("1a2b", 0, 0)


def test_a_test_drawn_by_lot_is_known_by_its_last_reason() -> None:
    """The relay must not import the selector, so the word is written twice."""
    assert HOLDOUT_RULE == RULE
    drawn = candidate().because(Reason(Stage.MANIFESTS, RULE, "left out, and drawn by lot"))
    made = selection(candidate(), drawn)
    decisions = selection_report(CHANGE, made, Plan(), room=ROOM, base_sha="").decisions
    assert [decision.by_lot for decision in decisions] == [False, True]


def test_hostile_lengths_are_cut_instead_of_refused() -> None:
    long = "x" * 100_000
    report = selection_report(
        CHANGE, selection(candidate(long), notes=(long,)), Plan(notes=("n",) * 500), room=ROOM, base_sha=""
    )
    assert len(report.decisions[0].reasons[0].evidence) == 2_000
    assert len(report.notes) == 200
    assert len(report.changed_files[0].symbols) == 50


def test_a_cut_text_says_so_and_holds_no_nul() -> None:
    assert capped("abcdef", 4) == "abc\N{HORIZONTAL ELLIPSIS}"
    assert capped("a\0b", 4) == "a\N{REPLACEMENT CHARACTER}b"
    assert capped("a\udcffb", 4) == "a?b"


def test_a_plan_is_cut_by_what_its_tests_took_before() -> None:
    """Under the names that the record keeps them by: those of the base tests whose decision brought them in."""
    plan = Plan(tuple(PlannedTest(test, Expectation(Mode.MANDATORY_SUCCESS, "listed", "m.yaml:3")) for test in (X, Y)))
    rest = Candidate(BaseTest("test/test_a.py", "", ""))
    for kept, base in ((candidate(), "test/test_a.py::TestA::test_x"), (rest, str(rest.test))):
        durations = {"test/test_a.py": {base: 400.0}}
        report = selection_report(CHANGE, selection(kept), plan, room=ROOM, base_sha="", durations=durations)
        assert (report.shards, report.shard_seconds) == (((X.id,), (Y.id,)), (200.0 + FILE_S,) * 2)
