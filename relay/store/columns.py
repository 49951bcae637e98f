"""Column types that make both databases behave alike, and that keep untrusted text within bounds.

Owns how values are stored; must not know any table.
"""

from __future__ import annotations

import enum
import json
import re
import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Enum, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

# PostgreSQL's text holds no NUL, and lone surrogates have no UTF-8 form.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment. SQLite forgets the zone, so everything is stored in UTC and read back as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class CappedText(TypeDecorator[str]):
    """Untrusted text: cut at `cap` characters, and without characters that cannot be stored."""

    impl = Text
    cache_ok = True

    def __init__(self, cap: int) -> None:
        super().__init__()
        self.cap = cap

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        clean = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
        return clean if len(clean) <= self.cap else clean[: self.cap - 1] + "\N{HORIZONTAL ELLIPSIS}"


class ZippedJson(TypeDecorator[Any]):
    """A JSON document that is written once and read whole, compressed: thousands of reason chains repeat themselves."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        if value is None:
            return None
        return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), level=6)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(zlib.decompress(value))


def word(kind: type[enum.StrEnum]) -> Enum:
    """A column of one of our vocabularies, stored as its value in plain text: new words then need no migration."""
    return Enum(kind, native_enum=False, length=32, values_callable=lambda members: [m.value for m in members])
