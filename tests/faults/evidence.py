"""What is known at the end of a story: the record, what GitHub was told, what the sender of webhooks knows, who lives.

Rows as plain values, so that an invariant can be shown to see what is wrong with rows that were made by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.devgithub.records import Dispatch as SeenDispatch
from relay.runs import shard_lines
from relay.store.crcr_models import Dispatch, OutboxItem, OutboxKind
from relay.store.models import Delivery, PlannedTest, ResultBatch, Run, RunEvent, Shard, TestAttempt
from tests.faults.fleet import Fleet
from tests.faults.traffic import Sent


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A webhook in the inbox."""

    delivery_id: str
    state: str
    note: str = ""
    run_id: int | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run; of which pull request and head, where that was a webhook's."""

    id: int
    identity: str
    state: str
    pull: int | None = None
    head: str = ""


@dataclass(frozen=True, slots=True)
class ShardRow:
    """A shard, with how often its history says that it was done, how many selections were taken in for it, and how
    many results its history says were new."""

    id: int
    run_id: int
    ordinal: int
    kind: str
    state: str
    attempt: int = 1
    done: int = 1
    selections: int = 0
    reported: int = 0


@dataclass(frozen=True, slots=True)
class TestRow:
    """A planned test; `first_tries` are its attempts on head with the number 1."""

    __test__ = False
    run_id: int
    shard_id: int
    test_id: str
    verdict: str | None
    first_tries: int = 1


@dataclass(frozen=True, slots=True)
class LetterRow:
    """A dispatch that was decided, and its letter in the outbox."""

    delivery_id: str
    repo: str
    state: str
    letter: str
    attempts: int = 1
    error: str = ""


@dataclass(frozen=True, slots=True)
class SeenRow:
    """A dispatch as GitHub took it; `mark` is what a receiver can tell a repeat by."""

    delivery_id: str
    repo: str
    mark: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Kill:
    """A background was killed at a moment, with the answers that it had not written down yet."""

    part: str
    at: datetime


@dataclass(frozen=True)
class Evidence:
    """All of it. `accepted` are deliveries that were answered 200 or 202, by id; `refused` those that never were, with
    the last answer; `newest` are the heads of open pull requests. `ready` are replicas; `workers` tells of each whether
    it did a change that was left to it alone."""

    accepted: Sequence[str] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    newest: Mapping[int, str] = field(default_factory=dict)
    deliveries: Sequence[DeliveryRow] = ()
    runs: Sequence[RunRow] = ()
    shards: Sequence[ShardRow] = ()
    tests: Sequence[TestRow] = ()
    letters: Sequence[LetterRow] = ()
    seen: Sequence[SeenRow] = ()
    kills: Sequence[Kill] = ()
    ready: Mapping[str, bool] = field(default_factory=dict)
    workers: Mapping[str, bool] = field(default_factory=dict)


_RUNS = select(Run.id, Run.identity, Run.state, Run.pr_number, Run.head_sha).order_by(Run.id)


def gather(fleet: Fleet, sent: Sent, kills: Sequence[Kill], workers: Mapping[str, bool]) -> Evidence:
    """Everything as it is now."""
    with fleet.record() as store, store.reading() as session:
        return Evidence(
            accepted=sorted(sent.accepted),
            refused=sent.refused,
            newest=sent.newest,
            deliveries=[
                DeliveryRow(*row)
                for row in session.execute(
                    select(Delivery.delivery_id, Delivery.state, Delivery.note, Delivery.run_id).order_by(Delivery.id)
                )
            ],
            runs=[RunRow(*row) for row in session.execute(_RUNS)],
            shards=_shards(session),
            tests=_tests(session),
            letters=_letters(session),
            seen=[_seen(each) for each in list(fleet.github.dispatches)],
            kills=kills,
            ready={replica.name: fleet.ready(replica) for replica in fleet.replicas},
            workers=workers,
        )


def _shards(session: Session) -> list[ShardRow]:
    done: dict[tuple[int, int], int] = {}
    reported: dict[tuple[int, int], int] = {}
    lines = select(RunEvent.run_id, RunEvent.kind, RunEvent.text)
    for run_id, kind, text in session.execute(lines.where(RunEvent.kind.in_(("shard.done", "tests.reported")))):
        told = shard_lines.read(text)
        if told is not None and kind == "shard.done":
            done[run_id, told.ordinal] = done.get((run_id, told.ordinal), 0) + 1
        elif told is not None:
            reported[run_id, told.ordinal] = reported.get((run_id, told.ordinal), 0) + told.results
    batches = select(ResultBatch.shard_id, func.count()).where(ResultBatch.sequence == 0).group_by(ResultBatch.shard_id)
    selections = {row[0]: row[1] for row in session.execute(batches)}
    return [
        ShardRow(
            *(shard.id, shard.run_id, shard.ordinal, shard.kind, shard.state, shard.attempt),
            done=done.get((shard.run_id, shard.ordinal), 0),
            selections=selections.get(shard.id, 0),
            reported=reported.get((shard.run_id, shard.ordinal), 0),
        )
        for shard in session.scalars(select(Shard).order_by(Shard.id))
    ]


def _tests(session: Session) -> list[TestRow]:
    first = (TestAttempt.planned_test_id == PlannedTest.id, TestAttempt.number == 1, TestAttempt.tree == "head")
    tries = select(func.count()).where(*first).scalar_subquery()
    columns = (PlannedTest.run_id, PlannedTest.shard_id, PlannedTest.test_id, PlannedTest.verdict, tries)
    return [TestRow(*row) for row in session.execute(select(*columns).order_by(PlannedTest.id))]


def _letters(session: Session) -> list[LetterRow]:
    letter = (OutboxItem.state, OutboxItem.attempts, OutboxItem.last_error)
    query = select(Dispatch.delivery_id, Dispatch.repo, Dispatch.state, *letter)
    joined = query.join(OutboxItem, OutboxItem.dispatch_id == Dispatch.id).where(OutboxItem.kind == OutboxKind.DISPATCH)
    return [LetterRow(*row) for row in session.execute(joined.order_by(Dispatch.id))]


def _seen(dispatch: SeenDispatch) -> SeenRow:
    payload = dispatch.client_payload
    return SeenRow(payload["delivery_id"], dispatch.repo, str(payload.get("crcr", "")), dispatch.at)
