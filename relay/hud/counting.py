"""What counts as a success, a failure, a timeout, and for how long a job ran: the terms of every figure (5.1).

Owns the definitions, as SQL; every query is made of them, so that two pages never disagree.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, not_, or_

from relay.hud.extract import COMPLETED
from relay.store.crcr_models import CrcrResult
from relay.store.sql import WholeSeconds

#: The backend that tests the relay itself: some of its jobs are meant to fail.
PROBE_REPO = "pytorch/crcr-test"

#: Word in the name of a probe's job -> the conclusion that it is meant to have.
EXPECTED_OUTCOMES = {"xfail": "failure", "xcancel": "cancelled", "xtimeout": "timed_out"}

#: A job that is still running after this is overdue: the six hours that GitHub grants, and a quarter for the report.
OVERDUE_AFTER = timedelta(minutes=375)

SUCCEEDED = "success"
FAILED = "failure"
TIMED_OUT = "timed_out"


def is_probe(repo_key: str) -> bool:
    """Whether this is the backend that tests the relay itself."""
    return repo_key == PROBE_REPO


def as_expected(job_name: str, conclusion: str) -> bool:
    """Whether a probe's job ended as it was meant to."""
    name = job_name.lower()
    wanted = [outcome for word, outcome in EXPECTED_OUTCOMES.items() if word in name]
    return conclusion == SUCCEEDED or conclusion in wanted


def completed_since(moment: datetime) -> ColumnElement[bool]:
    """Finished jobs whose start, or the best that is known of it, is not older."""
    return and_(CrcrResult.status == COMPLETED, CrcrResult.listed_at > moment)


def range_start(now: datetime, days: int) -> datetime:
    """The beginning of a range of days that ends now."""
    return now - timedelta(days=days)


def _unexpected(conclusion: str, *, probe_rule: bool) -> ColumnElement[bool]:
    ended = CrcrResult.conclusion == conclusion
    return and_(ended, not_(_meant())) if probe_rule else ended


def _meant() -> ColumnElement[bool]:
    """A probe's job that was meant to end otherwise than well, and did. Letter case is taken out, for one database's
    LIKE heeds it and the other's does not."""
    name = func.lower(CrcrResult.job_name)
    outcomes = [and_(name.contains(word), CrcrResult.conclusion == end) for word, end in EXPECTED_OUTCOMES.items()]
    return and_(CrcrResult.repo_key == PROBE_REPO, or_(*outcomes))


def _number_of(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def tally(*, probe_rule: bool = True) -> tuple[ColumnElement[Any], ...]:
    """The columns `successes`, `failures` and `timed_out` of a group of finished jobs."""
    success: ColumnElement[bool] = CrcrResult.conclusion == SUCCEEDED
    return (
        _number_of(or_(success, _meant()) if probe_rule else success).label("successes"),
        _number_of(_unexpected(FAILED, probe_rule=probe_rule)).label("failures"),
        _number_of(_unexpected(TIMED_OUT, probe_rule=probe_rule)).label("timed_out"),
    )


def duration() -> ColumnElement[int | None]:
    """Whole seconds that a job ran by its own account; null when it did not tell. Clocks that disagree make no job
    shorter than nothing."""
    seconds = WholeSeconds(CrcrResult.started_at, CrcrResult.completed_at)
    return case((seconds < 0, 0), else_=seconds)


def share(part: int, whole: int) -> float:
    """A part of a whole; 0 of nothing."""
    return part / whole if whole else 0.0


def rates(successes: int, failures: int, timed_out: int, total: int) -> dict[str, Any]:
    """Both pass rates: of all finished jobs, as every reader knows it, and of those that came to a verdict: a job that
    was cancelled or skipped says nothing about the change."""
    judged = successes + failures + timed_out
    return {
        "pass_rate": share(successes, total),
        "judged": judged,
        "judged_pass_rate": share(successes, judged),
    }
