"""How long tests took, by the record. Asked for by the selection of tests; only reads."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.contract import Observation, TestSeconds
from relay.store.models import PlannedTest, Run, Trigger
from relay.views import RunState

#: Runs looked at, the newest ones; a test that was in none of them has no duration.
RUNS = 20
#: PostgreSQL and SQLite take some thousand parameters in a statement.
_FILES_AT_ONCE = 500


def seconds_of(session: Session, device: str, files: Sequence[str]) -> tuple[TestSeconds, ...]:
    """For the base tests of `files` the median over the last runs of the seconds of all variants that passed. Runs of
    single chosen tests do not count, nor do those that were called off: they have a part of the variants."""
    whole = (Run.device == device, Run.rerun_of.is_(None), Run.trigger != Trigger.CONFIRM)
    ended = select(Run.id).where(*whole, Run.state == RunState.FINISHED).order_by(Run.id.desc()).limit(RUNS)
    runs = session.scalars(ended).all()
    wanted = sorted(set(files))
    found: dict[tuple[str, str], list[float]] = {}
    for start in range(0, len(wanted), _FILES_AT_ONCE):
        query = (
            select(PlannedTest.file, PlannedTest.base, func.sum(PlannedTest.duration_s))
            .where(PlannedTest.run_id.in_(runs), PlannedTest.file.in_(wanted[start : start + _FILES_AT_ONCE]))
            .where(PlannedTest.observation == Observation.PASSED, PlannedTest.duration_s.is_not(None))
            .group_by(PlannedTest.run_id, PlannedTest.file, PlannedTest.base)
        )
        for file, base, seconds in session.execute(query):
            found.setdefault((file, base), []).append(seconds or 0.0)
    return tuple(
        TestSeconds(file=file, test=base, seconds=median(took)) for (file, base), took in sorted(found.items())
    )
