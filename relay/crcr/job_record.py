"""How jobs of backends are stored: found by identity, inserted once, changed by compare and set, with a history.

Must not decide what a callback does (`relay.crcr.job_states`) nor what follows from it (`relay.crcr.effects`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import CursorResult, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from relay.crcr.callback import Callback, CallbackRefusedError
from relay.crcr.job_states import APPLIED, Step
from relay.store.crcr_models import BackendJob, BackendJobEvent

#: Of deciding anew when somebody else moved the job first. Each time somebody made progress.
TRIES = 8


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a callback. `mismatch` names what it echoed otherwise than it was dispatched."""

    job: BackendJob
    step: Step
    mismatch: tuple[str, ...] = ()

    @property
    def applied(self) -> bool:
        """Whether the record was changed, so that effects must follow."""
        return self.step in APPLIED


def overtaken() -> CallbackRefusedError:
    """The refusal of a callback that was overtaken `TRIES` times."""
    return CallbackRefusedError(503, "other callbacks of this job keep coming in; try again", retry_after_s=1)


def find_job(session: Session, identity: str) -> BackendJob | None:
    """The job of an identity, as it is now."""
    wanted = select(BackendJob).where(BackendJob.identity == identity)
    return session.scalar(wanted.execution_options(populate_existing=True))


def insert_job(session: Session, job: BackendJob) -> bool:
    """Store a job that is new; False when a twin request was first."""
    try:
        with session.begin_nested():
            session.add(job)
    except IntegrityError:
        return False
    return True


def update_job(session: Session, job: BackendJob, changes: Mapping[str, Any]) -> bool:
    """Change a job if it still is what its caller read; False when somebody else moved it first."""
    unchanged = (
        BackendJob.id == job.id,
        BackendJob.state == job.state,
        BackendJob.assumed == job.assumed,
        BackendJob.in_progress_digest == job.in_progress_digest,
        BackendJob.completed_digest == job.completed_digest,
    )
    result = session.execute(
        update(BackendJob).where(*unchanged).values(**changes), execution_options={"synchronize_session": False}
    )
    session.refresh(job)
    return isinstance(result, CursorResult) and result.rowcount == 1


def note_callback(
    session: Session, job: BackendJob, step: Step, callback: Callback, *, now: datetime, text: str = ""
) -> None:
    """Add what a callback did to a job's history, with the callback itself."""
    kind = f"callback.{step.replace(' ', '_')}"
    session.add(BackendJobEvent(job_id=job.id, at=now, kind=kind, text=text, callback=dict(callback.body)))


def seconds_between(earlier: datetime | None, later: datetime) -> float | None:
    """A duration in seconds to the millisecond; a clock that went back makes it 0."""
    return None if earlier is None else round(max(0.0, (later - earlier).total_seconds()), 3)
