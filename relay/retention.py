"""What the record forgets, and when: each room removes its own rows, here are the moments, the order and the bounds.

Runs, results, verdicts, selections, events and the audit log are kept for good. A batch is a transaction of its own, so
that whoever writes waits for one batch at most; a turn ends after some of them, and the next goes on. Several replicas
may do it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from relay.access.sign_ins import forget_sign_ins
from relay.crcr.replay_guard import forget_tokens
from relay.intake.bodies import remove_bodies
from relay.outbox.forgetting import forget_letters
from relay.runs.presence import forget_workers
from relay.runs.run_log import forget_logs
from relay.store.engine import Store
from relay.throttle import forget_buckets

_log = structlog.get_logger(__name__)

#: How often there is a turn, in seconds.
EVERY_S = 300.0
#: Rows of a transaction, and transactions of a turn for each kind of row: 2,000,000 rows a day.
BATCH = 200
BATCHES = 40

#: Given a session and how many rows at most, removes them and tells how many went.
_Step = Callable[[Session, int], int]


def prune(store: Store, now: datetime, retention_days: int) -> dict[str, int]:
    """One turn. How many rows of each kind went, or lost their body; kinds of which none did are left out. With
    `retention_days` 0 only that goes which means nothing any more."""
    removed = {name: count for name, step in _steps(now, retention_days).items() if (count := _turn(store, step))}
    if removed:
        _log.info("record_pruned", **removed)
    return removed


def _steps(now: datetime, retention_days: int) -> Mapping[str, _Step]:
    """By what they remove. What a letter is made of goes after the letter itself."""
    over: dict[str, _Step] = {
        "workers": lambda session, limit: forget_workers(session, now, limit=limit),
        "sign_ins": lambda session, limit: forget_sign_ins(session, now, limit=limit),
        "seen_tokens": lambda session, limit: forget_tokens(session, now, limit=limit),
        "rate_buckets": lambda session, limit: forget_buckets(session, now, limit=limit),
    }
    if not retention_days:
        return over
    before = now - timedelta(days=retention_days)
    kept: dict[str, _Step] = {
        "letters": lambda session, limit: forget_letters(session, before, limit=limit),
        "webhook_bodies": lambda session, limit: remove_bodies(session, before, now, limit=limit),
        "logs": lambda session, limit: forget_logs(session, before, limit=limit),
    }
    return over | kept


def _turn(store: Store, step: _Step) -> int:
    removed = 0
    for _ in range(BATCHES):
        with store.writing() as session:
            count = step(session, BATCH)
        removed += count
        if count < BATCH:
            break
    return removed
