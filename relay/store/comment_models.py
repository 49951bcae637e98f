"""The tables of comment commands: what was asked on which pull request, and where it is answered.

Owns names, types, keys and indexes; must not hold behaviour. `repo_key` is the repository casefolded.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from relay.store.access_models import ACTOR_CAP
from relay.store.columns import CappedText
from relay.store.crcr_models import REPO_CAP
from relay.store.models import Base

#: Of the answer to one comment, in characters.
ANSWER_CAP = 50_000


class PullComment(Base):
    """Our one comment on a pull request, by GitHub's number of it."""

    __tablename__ = "pull_comments"

    repo_key: Mapped[str] = mapped_column(String(REPO_CAP), primary_key=True)
    pr_number: Mapped[int] = mapped_column(primary_key=True)
    comment_id: Mapped[int] = mapped_column(BigInteger)
    at: Mapped[datetime]


class CommentAnswer(Base):
    """What was answered to a comment with commands. `comment_id` is GitHub's number of the comment that asked;
    `answer` is Markdown of ours, in which all that came from outside is harmless already, and so is `ending`: what
    became of the run that was started. Until that is told, `awaited_run_id` is the run."""

    __tablename__ = "comment_answers"
    __table_args__ = (
        *(Index(None, "repo_key", "comment_id", unique=True), Index(None, "repo_key", "pr_number", "id")),
        Index(None, "awaited_run_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repo: Mapped[str] = mapped_column(String(REPO_CAP))
    repo_key: Mapped[str] = mapped_column(String(REPO_CAP))
    pr_number: Mapped[int]
    comment_id: Mapped[int] = mapped_column(BigInteger)
    login: Mapped[str] = mapped_column(String(ACTOR_CAP))
    answer: Mapped[str] = mapped_column(CappedText(ANSWER_CAP))
    at: Mapped[datetime]
    awaited_run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    ending: Mapped[str] = mapped_column(CappedText(ANSWER_CAP), default="")
