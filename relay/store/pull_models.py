"""The table of pull requests that webhooks told of. Owns names, types and keys; must not hold behaviour."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from relay.store.columns import CappedText
from relay.store.models import Base

REPO_CAP = 300


class PullHead(Base):
    """How far the webhooks of a pull request were handled: `moved_at` is when upstream says that it stood so, in the
    latest of them, which is the delivery `delivery_row`. `repo` is in lower case."""

    __tablename__ = "pull_heads"
    __table_args__ = (UniqueConstraint("repo", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    repo: Mapped[str] = mapped_column(CappedText(REPO_CAP))
    number: Mapped[int]
    moved_at: Mapped[datetime]
    delivery_row: Mapped[int] = mapped_column(ForeignKey("deliveries.id"))
