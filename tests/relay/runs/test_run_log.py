"""What shards print is kept once, in order, up to a cap that is told."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from relay.contract import LogKind, LogLine, LogPosted, LogTaken, ShardOutcome
from relay.errors import BadMessageError, LeaseLostError, NotFoundError
from relay.runs.creation import cancel_run
from relay.runs.leases import LeasedShard
from relay.runs.run_log import accept_log, forget_logs
from relay.store.engine import Store
from relay.store.log_models import LogChunk, ShardLog
from tests.relay.worker_story import NOW, arrive, arrive_and_plan, end, lease_id, must_lease, names

CAP = 1_000_000


def lines(*texts: str, kind: LogKind = LogKind.STEP) -> tuple[LogLine, ...]:
    return tuple(LogLine(at=float(number), kind=kind, text=text) for number, text in enumerate(texts))


def post(store: Store, leased: LeasedShard, first: int, *texts: str, cap: int = CAP) -> LogTaken:
    posted = LogPosted(lease_id=lease_id(leased), first=first, lines=lines(*texts))
    with store.writing() as session:
        return accept_log(session, leased.shard.id, posted, NOW, cap)


def kept(store: Store) -> list[str]:
    """The texts on record, in the order of their chunks."""
    with store.reading() as session:
        return [text for body in session.scalars(select(LogChunk.body).order_by(LogChunk.id)) for _, _, text in body]


@pytest.fixture
def leased(store: Store) -> LeasedShard:
    arrive(store)
    return must_lease(store)


def test_a_chunk_that_is_sent_again_is_kept_once(store: Store, leased: LeasedShard) -> None:
    assert post(store, leased, 0, "a", "b") == LogTaken(lines=2)
    assert post(store, leased, 0, "a", "b") == LogTaken(lines=2)
    assert post(store, leased, 2, "c") == LogTaken(lines=3)
    assert post(store, leased, 0, "a", "b") == LogTaken(lines=3)
    assert kept(store) == ["a", "b", "c"]


def test_of_a_chunk_that_overlaps_only_what_is_new_is_kept(store: Store, leased: LeasedShard) -> None:
    post(store, leased, 0, "a", "b")
    assert post(store, leased, 1, "b", "c", "d") == LogTaken(lines=4)
    assert kept(store) == ["a", "b", "c", "d"]


def test_lines_that_are_missing_are_asked_for(store: Store, leased: LeasedShard) -> None:
    post(store, leased, 0, "a")
    with pytest.raises(BadMessageError, match="has 1 lines of this lease, and the chunk begins after 5"):
        post(store, leased, 5, "f")
    assert kept(store) == ["a"]


def test_at_its_cap_a_log_says_so_and_ends(store: Store, leased: LeasedShard) -> None:
    assert post(store, leased, 0, "x" * 50, "y" * 50, cap=100) == LogTaken(lines=2, full=True)
    assert post(store, leased, 2, "z", cap=100) == LogTaken(lines=3, full=True)
    first, last = kept(store)
    assert first == "x" * 50
    assert last == "The log of this shard ends here: 100 bytes are kept at most (RELAY_LOG_SHARD_BYTES)."


def test_a_cap_of_nothing_keeps_nothing(store: Store, leased: LeasedShard) -> None:
    assert post(store, leased, 0, "a", cap=0) == LogTaken(lines=1, full=True)
    assert kept(store) == []


def test_the_first_failure_has_a_place(store: Store, leased: LeasedShard) -> None:
    post(store, leased, 0, "a")
    failing = (*lines("b"), *lines("c", "d", kind=LogKind.FAILURE))
    with store.writing() as session:
        posted = LogPosted(lease_id=lease_id(leased), first=1, lines=failing)
        accept_log(session, leased.shard.id, posted, NOW, CAP)
    with store.reading() as session:
        log = session.scalars(select(ShardLog)).one()
        chunk = session.scalars(select(LogChunk).order_by(LogChunk.id.desc()).limit(1)).one()
    assert (log.failed_chunk, log.failed_line, log.failures) == (chunk.id, 1, 2)


def test_the_last_words_may_come_after_the_end(store: Store) -> None:
    arrive_and_plan(store, [names(1)])
    leased = must_lease(store)
    end(store, leased, ShardOutcome.FAILED, error="out of memory")
    assert post(store, leased, 0, "last words").lines == 1
    again = must_lease(store)
    assert post(store, again, 0, "second attempt").lines == 1
    with pytest.raises(LeaseLostError):
        post(store, leased, 1, "too late")
    with store.reading() as session:
        assert session.scalars(select(ShardLog.attempt).order_by(ShardLog.id)).all() == [1, 2]


def test_the_answer_tells_that_nobody_waits_for_the_shard_any_more(store: Store, leased: LeasedShard) -> None:
    """A run that is called off, which the worker would hear of with its next heartbeat only."""
    assert post(store, leased, 0, "a").stop is False
    with store.writing() as session:
        cancel_run(session, leased.run.id, NOW, "superseded")
    assert post(store, leased, 1, "b") == LogTaken(lines=2, stop=True)


def test_there_is_no_log_of_no_shard(store: Store) -> None:
    with store.writing() as session, pytest.raises(NotFoundError):
        accept_log(session, 2**40, LogPosted(lease_id="x", first=0, lines=lines("a")), NOW, CAP)


def test_old_logs_are_forgotten_in_batches(store: Store) -> None:
    """Each with all its chunks; a younger one stays."""
    arrive_and_plan(store, [names(1)])
    leased = must_lease(store)
    post(store, leased, 0, "a")
    post(store, leased, 1, "b")
    with store.writing() as session:
        assert forget_logs(session, NOW, limit=10) == 0
        assert forget_logs(session, NOW + timedelta(seconds=1), limit=10) == 1
        assert session.scalar(select(func.count()).select_from(LogChunk)) == 0
