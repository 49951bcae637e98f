"""What readers ask of a run's log: a page of lines from some place on, or before it, and the lines that mention a text.

Reads only, with a fixed number of queries, and never more of a log at once than the bounds here. A page says how much
of the log it looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVarTuple

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from relay.contract import LogKind
from relay.log_views import LogLineView, LogPage, ShardLogView
from relay.runs.log_places import LogWanted, Place
from relay.runs.queries import ensure_run
from relay.runs.states import FINAL_RUN_STATES
from relay.store.log_models import LogChunk, ShardLog
from relay.store.models import Run

#: Of one page: bytes of text that are unzipped, and chunks that are considered.
PAGE_BYTES = 4 << 20
_PAGE_CHUNKS = 1_000
#: Of one part of a log that is read whole.
_PART_LINES = 5_000
_Columns = TypeVarTuple("_Columns")


def read_log(
    session: Session, wanted: LogWanted, *, after: Place | None = None, before: Place | None = None, limit: int
) -> LogPage:
    """Up to `limit` lines after a place, or the last ones `before` a place; from the beginning when neither is given.

    Raises:
        NotFoundError: there is no such run.
    """
    return _read(session, wanted, after=after, before=before, limit=limit, backwards=before is not None)


def read_end_of_log(session: Session, wanted: LogWanted, *, limit: int) -> LogPage:
    """The last lines there are."""
    return _read(session, wanted, after=None, before=None, limit=limit, backwards=True)


def shard_logs(session: Session, run_id: int) -> tuple[ShardLogView, ...]:
    """The logs of a run's shards, attempt by attempt."""
    return tuple(_log_view(log) for log in _logs(session, run_id))


def every_line(session: Session, wanted: LogWanted, *, after: Place | None = None) -> Iterator[LogLineView]:
    """The next lines after the end of a chunk (a place in it), some thousands of them; none at the end."""
    logs = _chosen(_logs(session, wanted.run_id), wanted)
    begin = None if after is None else Place(after.chunk + 1, -1)
    known = _sizes(session, wanted, logs, after=begin, before=None, backwards=False)
    for chunk in _load(session, logs, [row.id for row in _enough(known, wanted, _PART_LINES, None)]):
        for number in range(chunk.lines):
            yield _line(chunk, number, logs)


def _read(
    session: Session, wanted: LogWanted, *, after: Place | None, before: Place | None, limit: int, backwards: bool
) -> LogPage:
    ensure_run(session, wanted.run_id)
    # First: the lines of a run that was over are all there.
    over = session.scalar(select(Run.state).where(Run.id == wanted.run_id)) in FINAL_RUN_STATES
    all_logs = _logs(session, wanted.run_id)
    logs = _chosen(all_logs, wanted)
    known = _sizes(session, wanted, logs, after=after, before=before, backwards=backwards)
    chunks = _load(session, logs, [row.id for row in _enough(known, wanted, limit, after or before)])
    if backwards:
        chunks.reverse()
    look = _look(chunks, wanted.q, limit, after=after, before=before, backwards=backwards)
    more = len(chunks) < len(known) or len(known) == _PAGE_CHUNKS or _is_left(chunks, look.end, backwards=backwards)
    oldest, newest = (look.end, look.begin) if backwards else (look.begin, look.end)
    edge = after or before
    return LogPage(
        lines=tuple(_line(chunk, number, logs) for chunk, number in sorted(look.found, key=_place_of)),
        logs=tuple(map(_log_view, all_logs)),
        first=str(oldest or edge or ""),
        last=str(newest or edge or ""),
        earlier=more if backwards else _is_any_before(session, wanted, logs, after),
        later=before is not None if backwards else more,
        searched=look.seen,
        total=sum(log.lines for log in logs.values()),
        over=over and (backwards or not more),
    )


def _place_of(found: tuple[LogChunk, int]) -> Place:
    return Place(found[0].id, found[1])


def _logs(session: Session, run_id: int) -> Sequence[ShardLog]:
    query = select(ShardLog).where(ShardLog.run_id == run_id).order_by(ShardLog.shard_id, ShardLog.attempt)
    return session.scalars(query).all()


def _chosen(logs: Sequence[ShardLog], wanted: LogWanted) -> dict[int, ShardLog]:
    return {
        log.id: log for log in logs if wanted.shard in {None, log.shard_id} and wanted.attempt in {None, log.attempt}
    }


def _of(query: Select[*_Columns], wanted: LogWanted, logs: dict[int, ShardLog]) -> Select[*_Columns]:
    if wanted.shard is None and wanted.attempt is None:
        return query.where(LogChunk.run_id == wanted.run_id)
    return query.where(LogChunk.log_id.in_(logs))


def _sizes(
    session: Session,
    wanted: LogWanted,
    logs: dict[int, ShardLog],
    *,
    after: Place | None,
    before: Place | None,
    backwards: bool,
) -> Sequence[Row[int, int, int]]:
    """The chunks that come into question, in the order of reading."""
    query = _of(select(LogChunk.id, LogChunk.lines, LogChunk.bytes), wanted, logs).limit(_PAGE_CHUNKS)
    if after is not None:
        query = query.where(LogChunk.id >= after.chunk)
    if before is not None:
        query = query.where(LogChunk.id <= before.chunk)
    return session.execute(query.order_by(LogChunk.id.desc() if backwards else LogChunk.id)).all()


def _is_any_before(session: Session, wanted: LogWanted, logs: dict[int, ShardLog], after: Place | None) -> bool:
    """Whether there are lines up to a place; a line -1 is the beginning of its chunk."""
    if after is None or after.line >= 0:
        return after is not None
    query = _of(select(LogChunk.id), wanted, logs).where(LogChunk.id < after.chunk)
    return session.scalar(query.limit(1)) is not None


def _enough(
    known: Sequence[Row[int, int, int]], wanted: LogWanted, limit: int, edge: Place | None
) -> Iterator[Row[int, int, int]]:
    """So many of the chunks as a page needs, or may look at."""
    lines = size = 0
    for row in known:
        if size and (size + row.bytes > PAGE_BYTES or (not wanted.q and lines >= limit)):
            return
        yield row
        # Of the chunk at the edge perhaps no line counts.
        lines += 0 if edge is not None and row.id == edge.chunk else row.lines
        size += row.bytes


def _load(session: Session, logs: dict[int, ShardLog], ids: Sequence[int]) -> list[LogChunk]:
    """The chunks in order, without those of a shard that began to speak only now."""
    if not ids:
        return []
    rows = session.scalars(select(LogChunk).where(LogChunk.id.in_(ids)).order_by(LogChunk.id))
    return [chunk for chunk in rows if chunk.log_id in logs]


@dataclass(slots=True)
class _Look:
    """What a look at some chunks brought: the lines found, how many were looked at, and the first and last of these,
    in the order of reading."""

    found: list[tuple[LogChunk, int]] = field(default_factory=list)
    seen: int = 0
    begin: Place | None = None
    end: Place | None = None

    def note(self, chunk: LogChunk, first: int, last: int, count: int) -> None:
        self.begin = self.begin or Place(chunk.id, first)
        self.end = Place(chunk.id, last)
        self.seen += count


def _look(
    chunks: Sequence[LogChunk], q: str, limit: int, *, after: Place | None, before: Place | None, backwards: bool
) -> _Look:
    """Chunks come in the order of reading."""
    look, wanted = _Look(), q.casefold()
    for chunk in chunks:
        low = after.line + 1 if after is not None and chunk.id == after.chunk else 0
        high = min(before.line, chunk.lines) if before is not None and chunk.id == before.chunk else chunk.lines
        if low >= high:
            continue
        numbers = range(high - 1, low - 1, -1) if backwards else range(low, high)
        texts = [str(row[2]).casefold() for row in chunk.body] if wanted else []
        if wanted and wanted not in "\n".join(texts):
            look.note(chunk, numbers[0], numbers[-1], len(numbers))
            continue
        for number in numbers:
            if len(look.found) == limit:
                return look
            look.note(chunk, number, number, 1)
            if not wanted or wanted in texts[number]:
                look.found.append((chunk, number))
    return look


def _is_left(chunks: Sequence[LogChunk], end: Place | None, *, backwards: bool) -> bool:
    """Whether lines of these chunks come after the last one looked at."""
    if end is None or not chunks:
        return False
    return end != Place(chunks[-1].id, 0 if backwards else chunks[-1].lines - 1)


def _line(chunk: LogChunk, number: int, logs: dict[int, ShardLog]) -> LogLineView:
    at, kind, text = chunk.body[number]
    log = logs[chunk.log_id]
    return LogLineView(
        place=str(Place(chunk.id, number)),
        shard=log.shard_id,
        attempt=log.attempt,
        number=chunk.first_line + number + 1,
        at=at,
        kind=LogKind(kind),
        text=text,
    )


def _log_view(log: ShardLog) -> ShardLogView:
    failed = log.failed_chunk is not None and log.failed_line is not None
    return ShardLogView(
        shard=log.shard_id,
        attempt=log.attempt,
        lines=log.lines,
        bytes=log.bytes,
        failures=log.failures,
        full=log.full,
        first_failure=str(Place(log.failed_chunk or 0, log.failed_line or 0)) if failed else "",
    )
