"""The queue of a device as people are told of it: who is where and why, and whether it is deep. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from relay.queue_views import Backlog, Waiting
from relay.runs.queueing import load_queue
from relay.runs.scheduling import Policy, Queue, is_deep, order, people_wait_s


@dataclass(frozen=True, slots=True)
class Line:
    """The runs with due shards, by id, the next one first; and how much there is to do."""

    placed: Mapping[int, Waiting]
    backlog: Backlog


def line_of(session: Session, device: str, now: datetime, policy: Policy) -> Line:
    """Who waits for a device."""
    queue = load_queue(session, device, now)
    placed = {
        one.run.run_id: Waiting(
            work_class=one.run.work_class,
            wait=one.wait,
            shards_before=one.shards_before,
            group_leases=one.leases,
            limit=one.limit,
        )
        for one in order(queue, policy)
    }
    return Line(placed, backlog_of(queue, policy))


def backlog_of(queue: Queue, policy: Policy) -> Backlog:
    """How much people wait for."""
    return Backlog(
        workers=queue.slots,
        for_each_worker_s=people_wait_s(queue),
        deep_after_s=policy.deep_s,
        deep=is_deep(queue, policy),
    )
