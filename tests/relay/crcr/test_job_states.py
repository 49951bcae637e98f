"""How callbacks move a job, ours and the original's way."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from relay.crcr.callback import COMPLETED, IN_PROGRESS
from relay.crcr.job_states import APPLIED, OURS, STATUSES, STRICT, Known, Step, known_of, next_step
from relay.store.crcr_models import JobState

AT = datetime(2026, 11, 2, tzinfo=UTC)


def test_both_tables_are_complete() -> None:
    """There is an answer to every status whatever is known."""
    every = set(product(Known, STATUSES))
    assert set(OURS) == set(STRICT) == every


@pytest.mark.parametrize(
    ("state", "in_progress_at", "assumed", "known"),
    [
        (None, None, "", Known.NOTHING),
        (JobState.IN_PROGRESS, AT, "", Known.STARTED),
        (JobState.COMPLETED, AT, "", Known.ENDED),
        (JobState.COMPLETED, None, "", Known.ENDED_ONLY),
        (JobState.COMPLETED, AT, "it took too long", Known.SUPPOSED),
        (JobState.COMPLETED, None, "it never started", Known.SUPPOSED),
    ],
)
def test_what_is_known_is_read_from_the_record(
    state: JobState | None, in_progress_at: datetime | None, assumed: str, known: Known
) -> None:
    """Three columns tell it."""
    assert known_of(state, in_progress_at, assumed) is known


@pytest.mark.parametrize(
    ("known", "status", "same", "ours", "strict"),
    [
        (Known.NOTHING, IN_PROGRESS, False, Step.START, Step.START),
        (Known.NOTHING, COMPLETED, False, Step.FINISH, Step.REFUSE),
        (Known.STARTED, IN_PROGRESS, False, Step.REPEAT, Step.REFUSE),
        (Known.STARTED, COMPLETED, False, Step.FINISH, Step.FINISH),
        (Known.ENDED, IN_PROGRESS, False, Step.REFUSE, Step.REFUSE),
        (Known.ENDED, IN_PROGRESS, True, Step.REFUSE, Step.REFUSE),
        (Known.ENDED, COMPLETED, True, Step.REPEAT, Step.REFUSE),
        (Known.ENDED, COMPLETED, False, Step.CONFLICT, Step.REFUSE),
        (Known.ENDED_ONLY, IN_PROGRESS, False, Step.LATE_START, Step.REFUSE),
        (Known.ENDED_ONLY, COMPLETED, True, Step.REPEAT, Step.REFUSE),
        (Known.ENDED_ONLY, COMPLETED, False, Step.CONFLICT, Step.REFUSE),
        (Known.SUPPOSED, IN_PROGRESS, False, Step.REFUSE, Step.REFUSE),
        (Known.SUPPOSED, COMPLETED, True, Step.LATE_FINISH, Step.REFUSE),
        (Known.SUPPOSED, COMPLETED, False, Step.LATE_FINISH, Step.REFUSE),
    ],
)
def test_a_callback_does_what_the_table_says(known: Known, status: str, same: bool, ours: Step, strict: Step) -> None:
    """Row by row of crcr-protocol 3.2 and 3.8."""
    assert next_step(known, status, same_report=same, strict=False) is ours
    assert next_step(known, status, same_report=same, strict=True) is strict


def test_a_known_end_is_never_undone() -> None:
    """No step of either table leads from an end back to running."""
    ended = (Known.ENDED, Known.ENDED_ONLY, Known.SUPPOSED)
    assert all(table[known, IN_PROGRESS] is not Step.START for table in (OURS, STRICT) for known in ended)


def test_repeats_and_refusals_change_nothing() -> None:
    """Only the other steps are applied."""
    assert {Step.REPEAT, Step.CONFLICT, Step.REFUSE} == set(Step) - APPLIED


def test_an_unknown_status_is_no_step() -> None:
    """It is refused before it comes here."""
    with pytest.raises(KeyError):
        next_step(Known.NOTHING, "queued", same_report=False, strict=False)
