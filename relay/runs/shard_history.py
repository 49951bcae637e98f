"""When each shard of a run waited and was worked on, from the run's history. Reads only, in two queries.

A lane tells of one shard from the moment it could be worked on. Only the tests of a shard have results, so that what
comes before the first of them is told apart: the worker gets its trees and processes ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.runs import shard_lines
from relay.store.models import RunEvent, Shard

#: Lines looked at: of the busiest run there may be more, and then the last ones are not told.
LINES_CAP = 5_000

_REPORTED = "tests.reported"
_PLANNED = "run.planned"
_LEASED = "shard.leased"


class Phase(StrEnum):
    """What a shard was in."""

    WAITING = "waiting"
    SELECTING = "selecting"
    STARTING = "starting"
    RUNNING = "running"


class Ending(StrEnum):
    """How a phase ended: it went on to the next, the work was in, or a lease ended without it, at times the last."""

    NEXT = "next"
    DONE = "done"
    GIVEN_BACK = "given back"
    LOST = "lost"


_ENDINGS = {"shard.done": Ending.DONE, "shard.due": Ending.GIVEN_BACK, "shard.lost": Ending.LOST}


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of a shard, `end` None while it goes on. `attempt` counts the leases so far, `worker` has this one;
    `why` is the reason, where it ended without its work. Both are untrusted text."""

    phase: Phase
    begin: datetime
    end: datetime | None
    attempt: int
    worker: str
    ending: Ending = Ending.NEXT
    why: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """The phases of a shard in their order, none of a shard that was not reached."""

    shard_id: int
    ordinal: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the history."""

    at: datetime
    kind: str
    text: str


def shard_lanes(session: Session, run_id: int, created_at: datetime, finished_at: datetime | None) -> tuple[Lane, ...]:
    """Every shard of the run, in the order of the table."""
    shards = session.execute(select(Shard.ordinal, Shard.id).where(Shard.run_id == run_id).order_by(Shard.ordinal))
    query = select(RunEvent.at, RunEvent.kind, RunEvent.text).where(
        RunEvent.run_id == run_id, RunEvent.kind.in_([_PLANNED, _REPORTED, _LEASED, *_ENDINGS])
    )
    rows = session.execute(query.order_by(RunEvent.id).limit(LINES_CAP))
    ids = {row.ordinal: row.id for row in shards}
    return lanes(ids, [Line(*row) for row in rows], created_at, finished_at)


def lanes(
    ids: Mapping[int, int], lines: Sequence[Line], created_at: datetime, finished_at: datetime | None
) -> tuple[Lane, ...]:
    """The lanes of these shards, ids by ordinal, as the lines tell."""
    drafts = {ordinal: _Draft(ordinal) for ordinal in ids}
    if first := drafts.get(shard_lines.SELECT_ORDINAL):
        first.begin(Phase.WAITING, created_at)
    for line in lines:
        if line.kind == _PLANNED:
            for draft in _unbegun(drafts.values()):
                draft.begin(Phase.WAITING, line.at)
        elif (told := shard_lines.read(line.text)) and (draft_of := drafts.get(told.ordinal)):
            draft_of.hear(line, told)
    if finished_at is not None:
        for draft in drafts.values():
            draft.end(finished_at, Ending.NEXT)
    return tuple(Lane(ids[ordinal], ordinal, draft.spans()) for ordinal, draft in sorted(drafts.items()))


@dataclass(slots=True)
class _Draft:
    """A lane while the history is read."""

    ordinal: int
    closed: list[Span] = field(default_factory=list)
    open: Span | None = None
    attempts: int = 0
    worker: str = ""

    def begin(self, phase: Phase, at: datetime) -> None:
        worker = "" if phase is Phase.WAITING else self.worker
        self.open = Span(phase, at, None, self.attempts, worker)

    def end(self, at: datetime, ending: Ending, why: str = "") -> None:
        if self.open is not None:
            now, self.open = self.open, None
            self.closed.append(Span(now.phase, now.begin, at, now.attempt, now.worker, ending, why))

    def hear(self, line: Line, told: shard_lines.ShardLine) -> None:
        if line.kind == _LEASED:
            self.end(line.at, Ending.NEXT)
            self.attempts, self.worker = self.attempts + 1, told.worker
            selects = self.ordinal == shard_lines.SELECT_ORDINAL
            self.begin(Phase.SELECTING if selects else Phase.STARTING, line.at)
        elif line.kind == _REPORTED:
            if self.open is not None and self.open.phase is Phase.STARTING:
                self.end(line.at, Ending.NEXT)
                self.begin(Phase.RUNNING, line.at)
        elif line.kind in _ENDINGS:
            ending = _ENDINGS[line.kind]
            self.end(line.at, ending, told.error)
            if ending is Ending.GIVEN_BACK:
                self.begin(Phase.WAITING, line.at)

    def spans(self) -> tuple[Span, ...]:
        return (*self.closed, self.open) if self.open is not None else tuple(self.closed)


def _unbegun(drafts: Iterable[_Draft]) -> Iterable[_Draft]:
    return (draft for draft in drafts if draft.open is None and not draft.closed)
