"""One transaction after the other, where several at once would each decide by what the others are about to change."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

#: Any fixed number: it keeps these locks apart from others of this database.
_SPACE = 7_301_995


def one_by_one(session: Session, subject: str) -> None:
    """Wait until no other transaction has called this for the same subject, and keep later ones waiting until this one
    ends. Call it before any row is locked that who comes first may wait for. SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        statement = text("SELECT pg_advisory_xact_lock(:space, hashtext(:subject))")
        session.execute(statement, {"space": _SPACE, "subject": subject})
