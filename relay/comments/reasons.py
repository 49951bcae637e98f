"""Why a test runs for a change or does not, as its run's selection recorded it. Reads only."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.comments import comment_words as words
from relay.comments.finding import alike, planned_tests
from relay.contract import Decision
from relay.runs.changes import Answer, current
from relay.runs.listings import Considered, load_considered
from relay.runs.queries import FAILURES
from relay.store.models import PlannedTest
from relay.views import Verdict

#: Tests that are listed when a name can mean several.
_SHOWN = 20


def why(session: Session, answer: Answer, name: str, run: str) -> str:
    """The decision about the test that a name means; a line each when it can mean several. `run` is a link."""
    considered = load_considered(session, answer.run.id)
    decision = _decision(session, considered, answer, name)
    if decision is not None:
        return _told(session, answer, decision, run)
    page = considered.page(q=name, limit=_SHOWN)
    if page.total > 1:
        return words.several(page.decisions, page.total)
    if page.total == 1:
        return _told(session, answer, page.decisions[0], run)
    return words.not_considered(name, run, alike(name, [entry["test"] for entry in considered.decisions]))


def _decision(session: Session, considered: Considered, answer: Answer, name: str) -> Decision | None:
    """The one about a test that is called exactly so, or whose variant is."""
    exactly = considered.about({name}).get(name)
    if exactly is not None:
        return exactly
    meant = planned_tests(session, answer.run.id, name)
    wanted = select(PlannedTest.base).where(PlannedTest.run_id == answer.run.id, PlannedTest.test_id.in_(meant))
    bases = set(session.scalars(wanted.distinct()))
    return considered.about(bases).get(bases.pop()) if len(bases) == 1 else None


def _told(session: Session, answer: Answer, decision: Decision, run: str) -> str:
    broken = _first_broken(session, answer, decision.test)
    return words.why(decision, run, _verdicts(session, answer, decision.test), broken)


def _first_broken(session: Session, answer: Answer, base: str) -> tuple[str, str] | None:
    """The first variant that speaks against the change, and what it said."""
    broken = (current(answer), PlannedTest.base == base, PlannedTest.verdict.in_(sorted(FAILURES)))
    query = select(PlannedTest.test_id, PlannedTest.detail).where(*broken).order_by(PlannedTest.id).limit(1)
    row = session.execute(query).first()
    return None if row is None else (row.test_id, row.detail)


def _verdicts(session: Session, answer: Answer, base: str) -> Mapping[Verdict | None, int]:
    """How the variants of a base test did, by verdict."""
    counted = select(PlannedTest.verdict, func.count()).where(current(answer), PlannedTest.base == base)
    return {row[0]: row[1] for row in session.execute(counted.group_by(PlannedTest.verdict))}
