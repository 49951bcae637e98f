"""The lines of a run's history that tell of its shards: worded here, and read back here.

A shard keeps its last lease only; when it waited and who had it before stands in the history. What is read back is
never more than the words say: a line that cannot be read tells nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The shard that selects is the first of its run.
SELECT_ORDINAL = 0

_ABOUT = re.compile(r"Shard (\d{1,9})\b")
_RESULTS_OF = re.compile(r"(\d{1,9}) results of shard (\d{1,9})\.")
_LEASED = re.compile(r"Shard \d+ \(\w+\) is leased by (.*?)(?:, attempt \d+\.)?", re.DOTALL)
_UNDONE = re.compile(
    r"Shard \d+ is (?:due again after attempt \d+ of \d+|given up after \d+ attempts): (.*)", re.DOTALL
)
_CALLED_OFF = " is called off."
_SELECTED = "Selected by "


@dataclass(frozen=True, slots=True)
class ShardLine:
    """Which shard a line is about; `worker` who leased it, `results` how many were reported, `error` why a lease ended
    without the work."""

    ordinal: int
    worker: str = ""
    results: int = 0
    error: str = ""


def leased(ordinal: int, kind: str, worker: str, attempt: int) -> str:
    """A worker has the shard."""
    return f"Shard {ordinal} ({kind}) is leased by {worker}, attempt {attempt}."


def selected(worker: str) -> str:
    """The shard that selects has done so."""
    return f"{_SELECTED}{worker}."


def done(ordinal: int, how: str = "") -> str:
    """All the work of the shard is in."""
    return f"Shard {ordinal} is done{how}."


def due_again(ordinal: int, attempt: int, most: int, error: str) -> str:
    """A lease ended without the work, and there will be another."""
    return f"Shard {ordinal} is due again after attempt {attempt} of {most}: {error}"


def given_up(ordinal: int, attempts: int, error: str) -> str:
    """A lease ended without the work, and it was the last."""
    return f"Shard {ordinal} is given up after {attempts} attempts: {error}"


def called_off(ordinal: int) -> str:
    """The run ended before the shard."""
    return f"Shard {ordinal}{_CALLED_OFF}"


def reported(results: int, ordinal: int) -> str:
    """Some tests of the shard have their results."""
    return f"{results} results of shard {ordinal}."


def read(text: str) -> ShardLine | None:
    """What a line says, None when it is not one of these. Lines are cut at their cap, and names of workers may hold
    anything."""
    if text.startswith(_SELECTED):
        return ShardLine(SELECT_ORDINAL)
    if told := _RESULTS_OF.fullmatch(text):
        return ShardLine(int(told[2]), results=int(told[1]))
    if not (about := _ABOUT.match(text)):
        return None
    lease, undone = _LEASED.fullmatch(text), _UNDONE.fullmatch(text)
    error = undone[1] if undone else "called off" if text.endswith(_CALLED_OFF) else ""
    return ShardLine(int(about[1]), worker=lease[1] if lease else "", error=error)
