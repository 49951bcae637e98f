"""What a child tells its parent: one JSON object a line, on a pipe of its own.

Shared by both sides, so it imports the standard library only. The pipe is open in a process that runs untrusted test
code: whoever reads it must expect garbage, half lines, repeats and lies. `decode` answers None to everything that is
not an event of the right shape; whether an event makes sense is for the reader to judge.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import get_type_hints


@dataclass(frozen=True, slots=True)
class Found:
    """A collected test, named as `selector.types.CollectedTest` names it."""

    id: str
    cls: str
    base: str
    method: str
    op: str | None
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """The file, or a part of it, could not be collected."""

    reason: str


@dataclass(frozen=True, slots=True)
class Began:
    """A test is about to run."""

    id: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A test ran to its end; `observation` is `passed`, `failed` or `skipped`."""

    id: str
    observation: str
    duration_s: float
    detail: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Everything that was ordered has been done; the child is of no more use."""


#: Exit status of a child whose event pipe was closed or replaced under it.
CHANNEL_LOST = 86

Event = Found | Refused | Began | Ended | Finished

_KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in (Found, Refused, Began, Ended, Finished)}
_SHAPES = {name: get_type_hints(kind) for name, kind in _KINDS.items()}


def mark(test: str) -> str:
    """The line a child writes into its output before a test, so that its last words can be told from earlier ones."""
    return f"\n=== {test}\n"


def encode(event: Event) -> bytes:
    """One line. It starts with a line feed as well, so that half a line left by a test does not swallow it."""
    return b"\n" + json.dumps({"event": type(event).__name__, **asdict(event)}).encode() + b"\n"


def decode(line: bytes) -> Event | None:
    """The event on a line, or None."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    name = fields.pop("event", None)
    shape = _SHAPES.get(name) if isinstance(name, str) else None
    if shape is None or fields.keys() != shape.keys():
        return None
    if not all(isinstance(fields[key], kind) for key, kind in shape.items()):
        return None
    return _KINDS[name](**fields)
