"""The tables of what shards print while they run.

Owns names, types, keys and indexes; must not hold behaviour. Everything in a line is untrusted text of upstream's.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from relay.store.columns import ZippedJson
from relay.store.models import Base


class ShardLog(Base):
    """The log of one attempt at a shard. `taken` counts the lines that came from its worker, `lines` and `bytes` what
    is kept of them; `full`: the cap was reached, and the last line says so. `failed_chunk` and `failed_line` are the
    place of the first failure."""

    __tablename__ = "shard_logs"
    __table_args__ = (UniqueConstraint("shard_id", "attempt"), Index(None, "run_id"), Index(None, "began_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    shard_id: Mapped[int] = mapped_column(ForeignKey("shards.id"))
    attempt: Mapped[int]
    began_at: Mapped[datetime]
    taken: Mapped[int] = mapped_column(default=0)
    lines: Mapped[int] = mapped_column(default=0)
    bytes: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    full: Mapped[bool] = mapped_column(default=False)
    failed_chunk: Mapped[int | None]
    failed_line: Mapped[int | None]


class LogChunk(Base):
    """Some lines that came together: a list of `[seconds, kind, text]`. Chunks of a run are written under the run's
    lock, so they become visible in the order of their ids; `bytes` is their size unzipped."""

    __tablename__ = "log_chunks"
    __table_args__ = (Index(None, "run_id", "id"), Index(None, "log_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    log_id: Mapped[int] = mapped_column(ForeignKey("shard_logs.id"))
    first_line: Mapped[int]
    lines: Mapped[int]
    bytes: Mapped[int]
    body: Mapped[list[list[Any]]] = mapped_column(ZippedJson)
