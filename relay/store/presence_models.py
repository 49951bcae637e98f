"""The table of workers that say they are there. Owns names, types, keys and indexes; must not hold behaviour.

Everything in a row is the worker's own claim, and untrusted to readers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from relay.contract import SHORT_CAP
from relay.store.columns import CappedText, ZippedJson
from relay.store.models import Base


class Worker(Base):
    """A worker, by its name and device: what it last said of itself, and when. `process` changes with every start,
    `environments` are `relay.contract.TestedOn`; `trouble` is why it can do no work, empty where it can. `left_at`
    is there once it said goodbye."""

    __tablename__ = "workers"
    __table_args__ = (UniqueConstraint("name", "device"), Index(None, "seen_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(CappedText(SHORT_CAP))
    device: Mapped[str] = mapped_column(String(100))
    process: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(CappedText(SHORT_CAP))
    concurrency: Mapped[int]
    sandbox: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    manifest_profile: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    environments: Mapped[list[dict[str, Any]]] = mapped_column(ZippedJson)
    trouble: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    left_at: Mapped[datetime | None]
