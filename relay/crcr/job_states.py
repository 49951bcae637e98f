"""How callbacks move a backend's job, as two tables: ours and the original's (crcr-protocol 3.2, 3.8). Pure.

The tables say what to do; `relay.crcr.jobs` does it, by compare and set.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from relay.crcr.callback import COMPLETED, IN_PROGRESS
from relay.store.crcr_models import JobState


class Known(StrEnum):
    """What is known of a job when a callback comes."""

    NOTHING = "nothing"
    STARTED = "started"
    #: It completed, and nobody had told us that it started.
    ENDED_ONLY = "ended only"
    ENDED = "ended"
    #: We gave it up ourselves: a timeout, a closed pull request.
    SUPPOSED = "supposed"


class Step(StrEnum):
    """What a callback does to its job."""

    START = "start"
    FINISH = "finish"
    #: The start of a job whose end is known already: the two overtook each other.
    LATE_START = "late start"
    #: The truth about a job that was given up.
    LATE_FINISH = "late finish"
    #: Nothing new.
    REPEAT = "repeat"
    #: It contradicts what the job said itself.
    CONFLICT = "conflict"
    REFUSE = "refuse"


#: Steps that change the record; the others only answer.
APPLIED = frozenset({Step.START, Step.FINISH, Step.LATE_START, Step.LATE_FINISH})

STATUSES = (IN_PROGRESS, COMPLETED)

#: Conflicting content is judged after the table: see `next_step`.
OURS: Mapping[tuple[Known, str], Step] = {
    (Known.NOTHING, IN_PROGRESS): Step.START,
    (Known.NOTHING, COMPLETED): Step.FINISH,
    (Known.STARTED, IN_PROGRESS): Step.REPEAT,
    (Known.STARTED, COMPLETED): Step.FINISH,
    (Known.ENDED_ONLY, IN_PROGRESS): Step.LATE_START,
    (Known.ENDED_ONLY, COMPLETED): Step.REPEAT,
    (Known.ENDED, IN_PROGRESS): Step.REFUSE,
    (Known.ENDED, COMPLETED): Step.REPEAT,
    (Known.SUPPOSED, IN_PROGRESS): Step.REFUSE,
    (Known.SUPPOSED, COMPLETED): Step.LATE_FINISH,
}

#: The original takes a start once and an end once, in this order; everything else is refused.
STRICT: Mapping[tuple[Known, str], Step] = {
    key: step if key in {(Known.NOTHING, IN_PROGRESS), (Known.STARTED, COMPLETED)} else Step.REFUSE
    for key, step in OURS.items()
}


def known_of(state: JobState | None, in_progress_at: datetime | None, assumed: str) -> Known:
    """What a job's record says. `state` is None when there is no record."""
    if state is None:
        return Known.NOTHING
    if state is JobState.IN_PROGRESS:
        return Known.STARTED
    if assumed:
        return Known.SUPPOSED
    return Known.ENDED if in_progress_at is not None else Known.ENDED_ONLY


def next_step(known: Known, status: str, *, same_report: bool, strict: bool) -> Step:
    """What a callback of this status does. `same_report`: it claims what the last completed one claimed.

    Raises:
        KeyError: the status is none of `STATUSES`.
    """
    step = (STRICT if strict else OURS)[known, status]
    if step is Step.REPEAT and status == COMPLETED and not same_report:
        return Step.CONFLICT
    return step
