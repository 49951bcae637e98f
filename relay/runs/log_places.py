"""Where a line of a run's log stands, and which lines somebody wants. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from relay.errors import InvalidCursorError

_PLACE = re.compile(r"([1-9][0-9]{0,9})\.([0-9]{1,5})")


class Place(NamedTuple):
    """Where a line stands: its chunk, and its number in it from 0. Places of a run sort as its lines do."""

    chunk: int
    line: int

    def __str__(self) -> str:
        return f"{self.chunk}.{self.line}"


@dataclass(frozen=True, slots=True)
class LogWanted:
    """Which lines: of a run, of one of its shards, of one attempt, with a text in them in any letter case."""

    run_id: int
    shard: int | None = None
    attempt: int | None = None
    q: str = ""


def parse_place(text: str) -> Place:
    """Raises `InvalidCursorError` for what is no place of a line."""
    found = _PLACE.fullmatch(text)
    if found is None or int(found[1]) >= 2**31:
        raise InvalidCursorError("That is not the place of a line.", "Use the `place` of a line of the log, or none.")
    return Place(int(found[1]), int(found[2]))
