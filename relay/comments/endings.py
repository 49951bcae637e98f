"""Runs that a comment started have ended: what became of them is added to the answer, in the same one comment.

A step of the sweep. Sends nothing itself, and may run in several processes at once.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from relay.comments import comment_words as words
from relay.comments.page import put_up
from relay.context import RelayContext
from relay.runs.queries import FAILURES, run_summary
from relay.runs.states import FINAL_RUN_STATES
from relay.settings import RelaySettings
from relay.store.comment_models import CommentAnswer
from relay.store.models import PlannedTest, Run
from relay.views import Verdict

#: Answers of one turn; the next turn takes others.
_TOGETHER = 20
#: Tests that are named when a run is red.
_NAMED = 10


def tell(context: RelayContext) -> int:
    """Add to answers what became of their runs. How many were told."""
    with context.store.reading() as session:
        ids = session.scalars(_ended().with_only_columns(CommentAnswer.id)).all()
    # A transaction for each: who holds one comment and waits for another could be waited for in a circle.
    return sum(_told(context, answer_id) for answer_id in ids)


def _told(context: RelayContext, answer_id: int) -> bool:
    """Whether it was told here and now, and not by another process."""
    mine = _ended().where(CommentAnswer.id == answer_id).with_for_update(skip_locked=True, of=CommentAnswer)
    with context.store.writing() as session:
        answer = session.scalar(mine)
        if answer is not None:
            _tell(session, context.settings, answer, context.now())
        return answer is not None


def _ended() -> Select[CommentAnswer]:
    query = select(CommentAnswer).join(Run, Run.id == CommentAnswer.awaited_run_id)
    return query.where(Run.state.in_(FINAL_RUN_STATES)).order_by(CommentAnswer.id).limit(_TOGETHER)


def _tell(session: Session, settings: RelaySettings, answer: CommentAnswer, now: datetime) -> None:
    run_id = answer.awaited_run_id
    if run_id is None:
        return
    summary = run_summary(session, run_id, settings.public_url)
    link = words.run_link(run_id, settings.public_url)
    answer.ending = words.ended(summary, link, _failed(session, run_id))
    answer.awaited_run_id = None
    session.flush()
    put_up(session, settings, answer, now, "ended")


def _failed(session: Session, run_id: int) -> list[tuple[str, Verdict]]:
    """The first tests that speak against the change."""
    broken = (PlannedTest.run_id == run_id, PlannedTest.verdict.in_(sorted(FAILURES)))
    query = select(PlannedTest.test_id, PlannedTest.verdict).where(*broken).order_by(PlannedTest.id).limit(_NAMED)
    return [(test, verdict) for test, verdict in session.execute(query) if verdict is not None]
