"""The tables of upgrade reports: one row for a report, one for each test that it lists.

Owns names, types, keys and indexes; must not hold behaviour. A report quotes upstream and perhaps a model: untrusted.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from relay.store.access_models import ACTOR_CAP
from relay.store.columns import CappedText, ZippedJson
from relay.store.models import ID_CAP, Base

#: Of what people call a tree, and of a cause.
NAME_CAP = 1_000
#: What a duty or a change is called; new words need no migration.
_WORD = 32


class Upgrade(Base):
    """A report that somebody published. `digest` is of what it says, so publishing it twice is publishing it
    once. `document` is its text, compressed; `about` what a page says above the tests; `duties` and `changes` count all
    tests by what they ask for and by what became of them. The runs are those that executed it on either release;
    `outcomes` is how they differ, once both have ended."""

    __tablename__ = "upgrades"
    __table_args__ = (Index(None, "base_run_id"), Index(None, "head_run_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    base: Mapped[str] = mapped_column(CappedText(NAME_CAP))
    head: Mapped[str] = mapped_column(CappedText(NAME_CAP))
    device: Mapped[str] = mapped_column(String(100))
    repository: Mapped[str] = mapped_column(CappedText(NAME_CAP), default="")
    base_commit: Mapped[str] = mapped_column(String(64), default="")
    head_commit: Mapped[str] = mapped_column(String(64), default="")
    duties: Mapped[dict[str, int]] = mapped_column(JSON)
    changes: Mapped[dict[str, int]] = mapped_column(JSON)
    about: Mapped[dict[str, Any]] = mapped_column(ZippedJson)
    document: Mapped[bytes] = mapped_column(LargeBinary)
    published_by: Mapped[str] = mapped_column(String(ACTOR_CAP))
    published_at: Mapped[datetime]
    base_run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    head_run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    outcomes: Mapped[dict[str, Any] | None] = mapped_column(ZippedJson)


class UpgradeTest(Base):
    """A test that changed or that asks for something. Those of a report are written once, in the report's order."""

    __tablename__ = "upgrade_tests"
    __table_args__ = (Index(None, "upgrade_id", "duty", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    upgrade_id: Mapped[int] = mapped_column(ForeignKey("upgrades.id"))
    duty: Mapped[str] = mapped_column(String(_WORD))
    change: Mapped[str] = mapped_column(String(_WORD))
    test: Mapped[str] = mapped_column(CappedText(ID_CAP))
    file: Mapped[str] = mapped_column(CappedText(ID_CAP))
    cause: Mapped[str] = mapped_column(CappedText(NAME_CAP), default="")
    body: Mapped[dict[str, Any]] = mapped_column(ZippedJson)
