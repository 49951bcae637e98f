"""Exactly one outcome per id, whatever a child claims."""

from __future__ import annotations

import math

import pytest

from relay.contract import Observation
from workers.runner.child.events import Began, Ended, Event, Refused
from workers.runner.ledger import Ledger
from workers.runner.types import TestOutcome


def outcomes_of(*events: Event) -> tuple[list[TestOutcome], Ledger]:
    """What a run of `a` and `b` yields when a child says `events`."""
    outcomes: list[TestOutcome] = []
    ledger = Ledger(["a", "b", "a"], outcomes.append)
    for event in events:
        ledger.receive(event)
    return outcomes, ledger


def test_an_honest_child_settles_its_tests() -> None:
    outcomes, ledger = outcomes_of(
        Began("a"), Ended("a", "passed", 1e-9, "", []), Began("b"), Ended("b", "failed", 0, "x", [])
    )
    assert outcomes == [TestOutcome("a", Observation.PASSED, 1e-9), TestOutcome("b", Observation.FAILED, 0, "x")]
    assert ledger.pending_of(["a", "b"]) == []


@pytest.mark.parametrize("seconds", [1e308, math.inf, math.nan, -1.0])
def test_no_test_takes_longer_than_its_process(seconds: float) -> None:
    """Recorded times plan the shards of others."""
    outcomes, _ = outcomes_of(Began("a"), Ended("a", "passed", seconds, "", []))
    assert 0 <= outcomes[0].duration_s < 10


def test_lies_that_make_no_sense_are_dropped() -> None:
    outcomes, ledger = outcomes_of(
        Ended("a", "passed", 0, "", []),
        Began("unknown"),
        Ended("unknown", "passed", 0, "", []),
        Began("a"),
        Ended("b", "passed", 0, "", []),
        Ended("a", "missing", 0, "", []),
        Ended("a", "splendid", 0, "", []),
    )
    assert outcomes == []
    assert ledger.running == "a"


def test_a_test_whose_end_never_came_crashed_when_the_next_begins() -> None:
    outcomes, _ = outcomes_of(Began("a"), Began("b"), Ended("b", "passed", 0, "", []))
    assert [(outcome.id, outcome.observation) for outcome in outcomes] == [
        ("a", Observation.CRASHED),
        ("b", Observation.PASSED),
    ]


def test_operators_of_the_device_go_with_the_outcome_in_bounds() -> None:
    names = ["aten::add.Tensor", "", "x" * 900, *["y"] * 900]
    outcomes, _ = outcomes_of(Began("a"), Ended("a", "passed", 0, "", names))
    assert outcomes[0].operators[:2] == ("aten::add.Tensor", "x" * 200)
    assert len(outcomes[0].operators) <= 500


def test_a_test_is_settled_once() -> None:
    ended = Ended("a", "passed", 0.0, "", [])
    outcomes, _ = outcomes_of(Began("a"), ended, ended, Began("a"), ended)
    assert len(outcomes) == 1


def test_impossible_durations_and_texts_become_possible() -> None:
    outcomes, _ = outcomes_of(
        Began("a"),
        Ended("a", "passed", float("nan"), "\0" * 100_000, []),
        Began("b"),
        Ended("b", "passed", -1.0, "", []),
    )
    assert [outcome.duration_s for outcome in outcomes] == [0, 0]
    assert len(outcomes[0].detail) <= 8_000


def test_a_new_child_starts_without_a_past() -> None:
    outcomes, ledger = outcomes_of(Refused("no"), Began("a"))
    ledger.new_child(["a", "b"])
    assert (ledger.running, ledger.progressed, ledger.refusal) == (None, False, "")
    ledger.settle_running(Observation.CRASHED, "nobody runs")
    assert outcomes == []
    ledger.settle_rest(Observation.MISSING, "gone")
    assert [outcome.id for outcome in outcomes] == ["a", "b"]
