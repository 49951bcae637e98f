"""Our one comment on a pull request: the newest answers first, older ones folded away, within GitHub's bounds.

Sends nothing. A comment that is too long is refused whole, so it is bounded here, in bytes.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.comments import comment_words as words
from relay.comments.neutral import cut, size
from relay.outbox.queue import enqueue
from relay.settings import RelaySettings
from relay.store.comment_models import CommentAnswer
from relay.store.crcr_models import OutboxKind
from relay.store.one_by_one import one_by_one

#: GitHub takes 65,536; counted in bytes that is always enough, whatever it counts in.
BYTES_CAP = 65_000
#: Earlier answers that are shown at most.
EARLIER = 20


def whole_comment(session: Session, settings: RelaySettings, repo: str, number: int) -> str:
    """The text of our comment, from what is on record."""
    of_pull = (CommentAnswer.repo_key == repo.casefold(), CommentAnswer.pr_number == number)
    query = select(CommentAnswer).where(*of_pull).order_by(CommentAnswer.id.desc()).limit(EARLIER + 1)
    shown = [_shown(row, settings.github_web_url) for row in session.scalars(query)]
    total = session.scalar(select(func.count()).select_from(CommentAnswer).where(*of_pull)) or 0
    only = "" if settings.backend_places else settings.device
    top = "\n".join([words.MARKER, words.heading(only), "", *shown[:1]])
    return _bounded(top, shown[1:], total - len(shown))


def lane_of(repo: str, number: int) -> str:
    """The lane of the letters about our comment on a pull request."""
    return f"comment/{repo.casefold()}/{number}"


def put_up(session: Session, settings: RelaySettings, answer: CommentAnswer, now: datetime, occasion: str) -> None:
    """Have our comment on the pull request of this answer say what is on record now, once for each occasion."""
    lane = lane_of(answer.repo, answer.pr_number)
    # The text is whole only if whoever else changes the same comment has committed: a later letter replaces an earlier.
    one_by_one(session, lane)
    enqueue(
        session,
        kind=OutboxKind.COMMENT,
        key=f"{lane}/{answer.comment_id}/{occasion}",
        lane=lane,
        target=answer.repo,
        body={"number": answer.pr_number, "text": whole_comment(session, settings, answer.repo, answer.pr_number)},
        now=now,
    )


def _shown(row: CommentAnswer, web_url: str) -> str:
    address = f"{web_url}/{row.repo}/pull/{row.pr_number}#issuecomment-{row.comment_id}"
    parts = (words.asked(row.login, address), row.answer, row.ending)
    return "\n\n".join(part for part in parts if part)


def _bounded(top: str, older: list[str], left_out: int) -> str:
    """With as many of the earlier answers as there is room for, whole ones only."""
    while older:
        text = f"{top}\n\n{words.earlier(older, left_out)}"
        if size(text) <= BYTES_CAP:
            return text
        older, left_out = older[:-1], left_out + 1
    return cut(top, BYTES_CAP)
