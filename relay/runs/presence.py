"""Workers say that they are there, and that they go: the only writer of their table.

What a worker does is known by its leases (`relay.runs.leases`); this tells of those that wait for work, and with what.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Select, delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from relay.contract import WorkerPresent
from relay.store.presence_models import Worker

#: How often a worker says that it is there, in seconds.
PRESENCE_EVERY_S = 20.0
#: Of these in a row that did not come, and the worker is silent. A start of its machine's own may cost one.
MISSED_BEATS = 3
#: Workers are forgotten after a day of silence: they may have been taken away.
FORGOTTEN_AFTER = timedelta(days=1)


def say_present(session: Session, posted: WorkerPresent, now: datetime) -> None:
    """Write down what a worker says of itself. The goodbye of a process that a newer one has replaced says nothing."""
    row = session.scalar(_row(posted)) or _new(session, posted, now)
    if posted.leaving:
        if row.process == posted.process:
            row.left_at = row.seen_at = now
        return
    if row.process != posted.process or row.left_at is not None:
        row.started_at = now
    row.process, row.version, row.concurrency = posted.process, posted.version, posted.concurrency
    row.sandbox, row.manifest_profile = posted.sandbox, posted.manifest_profile
    row.environments, row.trouble = _environments(posted), posted.trouble
    row.seen_at, row.left_at = now, None


def forget_workers(session: Session, now: datetime, *, limit: int) -> int:
    """Forget up to `limit` workers that have said nothing for a day. How many."""
    before = now - FORGOTTEN_AFTER
    gone = session.scalars(select(Worker.id).where(Worker.seen_at < before).order_by(Worker.seen_at).limit(limit)).all()
    if gone:
        session.execute(delete(Worker).where(Worker.id.in_(gone), Worker.seen_at < before))
    return len(gone)


def _row(posted: WorkerPresent) -> Select[Worker]:
    return select(Worker).where(Worker.name == posted.worker, Worker.device == posted.device).with_for_update()


def _new(session: Session, posted: WorkerPresent, now: datetime) -> Worker:
    fresh = Worker(
        name=posted.worker,
        device=posted.device,
        process=posted.process,
        version=posted.version,
        concurrency=posted.concurrency,
        sandbox=posted.sandbox,
        manifest_profile=posted.manifest_profile,
        environments=_environments(posted),
        trouble=posted.trouble,
        started_at=now,
        seen_at=now,
    )
    try:
        with session.begin_nested():
            session.add(fresh)
        return fresh
    except IntegrityError:
        # A twin request made it between our look and our insert.
        return session.scalars(_row(posted)).one()


def _environments(posted: WorkerPresent) -> list[dict[str, object]]:
    return [environment.model_dump(mode="json") for environment in posted.environments]
