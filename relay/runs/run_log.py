"""What shards print, taken in: each line once, up to a cap that the log's last line tells of.

A chunk says how many lines of its lease came before it, so the same chunk again is known. Reading is
`relay.runs.log_reading`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from relay.contract import LogKind, LogLine, LogPosted, LogTaken
from relay.errors import BadMessageError, LeaseLostError
from relay.runs.leases import locked_shard
from relay.store.log_models import LogChunk, ShardLog
from relay.store.models import Shard, ShardState

#: A line costs this much even when it is empty, so that no cap is passed by empty lines.
_LINE_BYTES = 8


#: What a shard is in whose lease ended without its work: with the run, or by silence.
_TAKEN_AWAY = frozenset({ShardState.DUE, ShardState.LOST})


def accept_log(session: Session, shard_id: int, posted: LogPosted, now: datetime, cap: int) -> LogTaken:
    """Keep the lines that are new, up to `cap` bytes for an attempt at a shard; 0 keeps none. Who held the lease last
    may still speak after its end.

    Raises:
        NotFoundError: no such shard.
        LeaseLostError: somebody else holds the shard by now.
        BadMessageError: lines before these are missing.
    """
    _, shard = locked_shard(session, shard_id)
    if shard.lease_id != posted.lease_id:
        raise LeaseLostError(
            f"The log of shard {shard.id} is written by another lease by now.", "Stop working on the shard."
        )
    log = _log_of(session, shard, now)
    if posted.first > log.taken:
        raise BadMessageError(
            f"The log of shard {shard.id} has {log.taken} lines of this lease, and the chunk begins after "
            f"{posted.first}.",
            "Send the lines in order.",
        )
    fresh = posted.lines[log.taken - posted.first :]
    if fresh and not log.full:
        _keep(session, log, fresh, cap)
    log.taken += len(fresh)
    return LogTaken(lines=log.taken, full=log.full, stop=shard.state in _TAKEN_AWAY)


def forget_logs(session: Session, before: datetime, *, limit: int) -> int:
    """Remove the logs of up to `limit` attempts at shards that began before that moment; how many went."""
    query = select(ShardLog.id).where(ShardLog.began_at < before).order_by(ShardLog.began_at).limit(limit)
    old = session.scalars(query).all()
    if old:
        session.execute(delete(LogChunk).where(LogChunk.log_id.in_(old)))
        session.execute(delete(ShardLog).where(ShardLog.id.in_(old)))
    return len(old)


def _log_of(session: Session, shard: Shard, now: datetime) -> ShardLog:
    known = session.scalar(select(ShardLog).where(ShardLog.shard_id == shard.id, ShardLog.attempt == shard.attempt))
    if known is not None:
        return known
    log = ShardLog(
        run_id=shard.run_id, shard_id=shard.id, attempt=shard.attempt, began_at=now,
        taken=0, lines=0, bytes=0, failures=0, full=False,
    )  # fmt: skip
    session.add(log)
    session.flush()
    return log


def _keep(session: Session, log: ShardLog, fresh: Sequence[LogLine], cap: int) -> None:
    kept: list[LogLine] = []
    size = 0
    for line in fresh:
        weight = _LINE_BYTES + len(line.text.encode(errors="replace"))
        if log.bytes + size + weight > cap:
            log.full = True
            break
        kept.append(line)
        size += weight
    if log.full and cap:
        text = f"The log of this shard ends here: {cap} bytes are kept at most (RELAY_LOG_SHARD_BYTES)."
        kept.append(LogLine(at=fresh[-1].at, kind=LogKind.NOTE, text=text))
        size += _LINE_BYTES + len(text)
    if kept:
        _add_chunk(session, log, kept, size)


def _add_chunk(session: Session, log: ShardLog, kept: Sequence[LogLine], size: int) -> None:
    body: list[list[Any]] = [[line.at, line.kind.value, line.text] for line in kept]
    chunk = LogChunk(run_id=log.run_id, log_id=log.id, first_line=log.lines, lines=len(kept), bytes=size, body=body)
    session.add(chunk)
    session.flush()
    failed = [number for number, line in enumerate(kept) if line.kind is LogKind.FAILURE]
    if failed and log.failed_chunk is None:
        log.failed_chunk, log.failed_line = chunk.id, failed[0]
    log.lines += len(kept)
    log.bytes += size
    log.failures += len(failed)
