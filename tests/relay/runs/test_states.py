"""The state tables, and the one function that moves along them."""

from __future__ import annotations

from itertools import product

import pytest
from sqlalchemy import select, update

from relay.runs.states import (
    FINAL_RUN_STATES,
    FINAL_SHARD_STATES,
    RUN_TRANSITIONS,
    SHARD_TRANSITIONS,
    IllegalTransitionError,
    StaleTransitionError,
    lock_run,
    transition,
)
from relay.store.engine import Store
from relay.store.models import Run, RunEvent, ShardState
from relay.views import RunState
from tests.relay.worker_story import NOW, arrive


def test_the_tables_cover_every_state() -> None:
    """No state is without a line, and the final ones are those of the read model."""
    assert set(RUN_TRANSITIONS) == set(RunState)
    assert set(SHARD_TRANSITIONS) == set(ShardState)
    assert set(FINAL_RUN_STATES) == {RunState.FINISHED, RunState.CANCELLED, RunState.FAILED}
    assert set(FINAL_SHARD_STATES) == {ShardState.DONE, ShardState.LOST}


def test_every_unfinished_state_leads_to_an_end() -> None:
    """From everywhere a run can be called off, so no run stays for ever."""
    for state in set(RunState) - FINAL_RUN_STATES:
        assert RunState.CANCELLED in RUN_TRANSITIONS[state]


@pytest.mark.parametrize("step", list(product(RunState, RunState)), ids=str)
def test_exactly_the_steps_of_the_table_are_possible(store: Store, step: tuple[RunState, RunState]) -> None:
    """Any other step is an error with a name, and changes nothing."""
    before, after = step
    run_id = arrive(store)
    with store.writing() as session:
        session.execute(update(Run).values(state=before))
        run = lock_run(session, run_id)
        assert run is not None
        if after in RUN_TRANSITIONS[before]:
            transition(session, run, after, NOW, "moved")
            assert run.state is after
        else:
            with pytest.raises(IllegalTransitionError):
                transition(session, run, after, NOW, "moved")
            assert run.state is before


def test_a_step_from_a_state_that_is_gone_is_stale(store: Store) -> None:
    """Who decided on old knowledge has to look again."""
    run_id = arrive(store)
    with store.writing() as session:
        run = session.get_one(Run, run_id)
        session.execute(update(Run).values(state=RunState.SELECTING), execution_options={"synchronize_session": False})
        with pytest.raises(StaleTransitionError):
            transition(session, run, RunState.SELECTING, NOW, "late")


def test_a_transition_writes_a_line_of_history(store: Store) -> None:
    """The line has the new state in its kind and the reason as its text."""
    run_id = arrive(store)
    with store.writing() as session:
        run = session.get_one(Run, run_id)
        transition(session, run, RunState.CANCELLED, NOW, "enough", headline="enough")
        assert run.headline == "enough"
        last = session.scalars(select(RunEvent).order_by(RunEvent.id.desc())).first()
        assert last is not None
        assert (last.run_id, last.kind, last.text) == (run_id, "run.cancelled", "enough")


@pytest.mark.parametrize("number", [0, -1, 2**31, 10**30])
def test_numbers_that_are_no_ids_name_nothing(store: Store, number: int) -> None:
    """They come from URLs; a database must not fail over them."""
    with store.writing() as session:
        assert lock_run(session, number) is None
