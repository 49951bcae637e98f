"""How long the tests of a file took, as the record tells it."""

from __future__ import annotations

from relay.contract import Observation, TestResult, TestSeconds
from relay.runs.past import seconds_of
from relay.runs.states import lock_run
from relay.store.engine import Store
from relay.views import RunState
from tests.relay.worker_story import (
    DEVICE,
    arrive_and_plan,
    attempt,
    must_lease,
    names,
    post_results,
    results,
)

FILE = "test/test_ops.py"


def ran(store: Store, seconds: float, *, end: RunState | None = RunState.FINISHED) -> None:
    """Two variants passed in `seconds` each, and one failed."""
    run_id = arrive_and_plan(store, [names(3)])
    leased = must_lease(store)
    seen = (Observation.PASSED, Observation.PASSED, Observation.FAILED)
    done = [
        TestResult(id=name, attempts=(attempt(what, duration_s=seconds),))
        for name, what in zip(names(3), seen, strict=True)
    ]
    post_results(store, leased, results(leased, done))
    with store.writing() as session:
        run = lock_run(session, run_id)
        assert run is not None
        run.state = end or run.state


def test_variants_are_summed_and_the_middle_of_the_last_runs_is_told(store: Store) -> None:
    for seconds in (1.0, 30.0, 2.0):
        ran(store, seconds)
    ran(store, 500.0, end=None)
    ran(store, 700.0, end=RunState.CANCELLED)
    with store.reading() as session:
        told = seconds_of(session, DEVICE, [FILE, *(f"test/{number}.py" for number in range(1_200))])
        assert told == (TestSeconds(file=FILE, test=f"{FILE}::TestOps::test_add", seconds=4.0),)
        assert seconds_of(session, "other", [FILE]) == ()
        assert seconds_of(session, DEVICE, []) == ()
