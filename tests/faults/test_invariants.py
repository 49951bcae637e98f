"""Each invariant sees what violates it, in rows made by hand, and nothing in rows that are right."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.faults.evidence import DeliveryRow, Evidence, Kill, LetterRow, RunRow, SeenRow, ShardRow, TestRow
from tests.faults.invariants import INVARIANTS, violations

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=70)
SEEN = SeenRow("d1", "a/one", "proof", NOW)
AGAIN = replace(SEEN, at=LATER)
GOOD = Evidence(
    accepted=("d1", "d2"),
    deliveries=(DeliveryRow("d1", "processed", run_id=1), DeliveryRow("d2", "ignored", "not ours")),
    newest={7: "b", 8: "c"},
    runs=(
        RunRow(1, "delivery:d1", "finished", 7, "a"),
        RunRow(2, "delivery:d4", "finished", 7, "b"),
        RunRow(3, "delivery:d5", "cancelled", 8, "c"),
        RunRow(4, "rerun:d5", "failed", 8, "c"),
    ),
    shards=(
        ShardRow(1, 1, 0, "select", "done", selections=1),
        ShardRow(2, 1, 1, "test", "done", attempt=2, reported=2),
    ),
    tests=(TestRow(1, 2, "t1", "ok"), TestRow(1, 2, "t2", "regression")),
    letters=(LetterRow("d1", "a/one", "dispatched", "sent", attempts=2),),
    seen=(SEEN,),
    ready={"web-1": True},
    workers={"w1": True},
)
OLDER, NEWER, *OTHERS = GOOD.runs
SELECT, TEST = GOOD.shards
FIRST, SECOND = GOOD.tests
(LETTER,) = GOOD.letters

BROKEN: dict[str, tuple[Evidence, ...]] = {
    "delivery has run": (
        replace(GOOD, refused={"d3": "HTTP 500"}),
        replace(GOOD, accepted=("d1", "d2", "d3")),
        replace(GOOD, deliveries=(DeliveryRow("d1", "received"), GOOD.deliveries[1])),
        replace(GOOD, deliveries=(DeliveryRow("d1", "failed", "a bug"), GOOD.deliveries[1])),
        replace(GOOD, deliveries=(DeliveryRow("d1", "processed"), GOOD.deliveries[1])),
        replace(GOOD, deliveries=(DeliveryRow("d1", "processed", run_id=9), GOOD.deliveries[1])),
        replace(GOOD, deliveries=(GOOD.deliveries[0], DeliveryRow("d2", "processed", run_id=1))),
    ),
    "one outcome": (
        replace(GOOD, tests=(FIRST, replace(SECOND, verdict=None))),
        replace(GOOD, tests=(FIRST, replace(SECOND, first_tries=2))),
        replace(GOOD, tests=(FIRST, replace(SECOND, test_id="t1"))),
    ),
    "no run stuck": (
        replace(GOOD, runs=(RunRow(1, "delivery:d1", "running"),)),
        replace(GOOD, shards=(SELECT, replace(TEST, state="leased", done=0))),
    ),
    "shard once": (
        replace(GOOD, shards=(SELECT, replace(TEST, done=2))),
        replace(GOOD, shards=(SELECT, replace(TEST, done=0))),
        replace(GOOD, shards=(replace(SELECT, selections=2), TEST)),
        replace(GOOD, shards=(SELECT, replace(TEST, reported=4))),
    ),
    "newest head": (
        replace(GOOD, runs=()),
        replace(GOOD, runs=(OLDER, replace(NEWER, state="cancelled"), *OTHERS)),
        replace(GOOD, runs=(OLDER, *OTHERS)),
        replace(GOOD, runs=(NEWER, replace(OLDER, id=3), *OTHERS)),
    ),
    "dispatch arrives": (
        replace(GOOD, seen=()),
        replace(GOOD, letters=(replace(LETTER, state="queued", letter="sending"),)),
        replace(GOOD, letters=(replace(LETTER, letter="dead"),)),
    ),
    "dispatch once": (
        replace(GOOD, letters=()),
        replace(GOOD, seen=(SEEN, AGAIN)),
        replace(GOOD, seen=(SEEN, AGAIN), kills=(Kill("background-1", LATER + timedelta(seconds=1)),)),
        replace(GOOD, seen=(SEEN, AGAIN), kills=(Kill("background-1", NOW - timedelta(minutes=1)),)),
        replace(GOOD, seen=(SEEN, replace(SEEN, at=NOW + timedelta(seconds=9))), kills=(Kill("background-1", NOW),)),
        replace(GOOD, seen=(SEEN, replace(AGAIN, mark="another")), kills=(Kill("background-1", NOW),)),
        replace(
            GOOD,
            seen=(SEEN, AGAIN),
            kills=(Kill("background-1", NOW),),
            letters=(replace(LETTER, attempts=1),),
        ),
    ),
    "service well": (replace(GOOD, ready={"web-1": False}), replace(GOOD, workers={"w1": False})),
}


def test_what_is_right_violates_nothing() -> None:
    assert violations(GOOD) == {name: [] for name in INVARIANTS}


def test_what_is_sent_again_for_a_killed_process_is_no_violation() -> None:
    """Its answer was lost with it; the second bears the mark of the first."""
    found = violations(replace(GOOD, seen=(SEEN, AGAIN), kills=(Kill("background-1", NOW),)))
    assert found == {name: [] for name in INVARIANTS}


def test_each_invariant_has_a_violation_here() -> None:
    assert BROKEN.keys() == INVARIANTS.keys()


@pytest.mark.parametrize(("name", "broken"), [(name, each) for name, cases in BROKEN.items() for each in cases])
def test_a_violation_is_seen(name: str, broken: Evidence) -> None:
    """By the invariant that it is one of, with a row to look at."""
    assert violations(broken)[name] != []
