"""The output of a shard on its way to the relay: lines of what happened, in chunks that say where they begin.

A line is one line: no line feed, no terminal's escapes. Its text comes from upstream's tests and is untrusted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from relay.contract.texts import WHOLE, Flag, Message, Number

LOG_TEXT_CAP = 2_000
LOG_LINES_CAP = 500


class LogKind(StrEnum):
    """What a line is: a step of the worker, a test that ended as it should, one that did not (`failure`), what a test
    or its process printed, or a remark of the worker or the relay about the log itself."""

    STEP = "step"
    TEST = "test"
    FAILURE = "failure"
    OUTPUT = "output"
    NOTE = "note"


class LogLine(Message):
    """`at` is in seconds since the worker took the shard. Redacted by the worker."""

    at: Number = Field(ge=0, le=1e9, allow_inf_nan=False)
    kind: LogKind
    text: str = Field(max_length=LOG_TEXT_CAP)


class LogPosted(Message):
    """Body of `POST .../shards/{id}/log`. `first` counts the lines of this lease before these, from 0: a chunk that is
    sent again is known by it. The last words may come after the shard has ended."""

    lease_id: str
    first: Annotated[int, Field(ge=0, le=100_000_000), WHOLE]
    lines: tuple[LogLine, ...] = Field(min_length=1, max_length=LOG_LINES_CAP)


class LogTaken(Message):
    """How many lines of this lease the relay has seen; the next chunk begins there. `full`: no more are wanted. `stop`:
    nothing more is wanted of the shard itself, its run is over or its lease has ended."""

    lines: Annotated[int, Field(ge=0), WHOLE]
    full: Flag = False
    stop: Flag = False
