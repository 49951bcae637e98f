"""The table of what one process at a time does for all. Owns names, types and keys; must not hold behaviour."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from relay.store.models import Base


class Duty(Base):
    """Who does it, until when it is theirs, and when it was last done by anybody."""

    __tablename__ = "duties"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    holder: Mapped[str] = mapped_column(String(120))
    until: Mapped[datetime]
    done_at: Mapped[datetime | None]
