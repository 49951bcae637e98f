"""A post office for tests: senders whose endings a test decides, and rows to send."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.outbox.delivering import Deliverer
from relay.outbox.queue import NewItem, enqueue_all
from relay.outbox.retrying import RetryTerms
from relay.outbox.types import Ending, Letter, Sent
from relay.store.crcr_models import OutboxItem, OutboxKind
from relay.store.engine import Store
from tests.relay.stories import START


@dataclass
class Clock:
    """Stands still until a test moves it."""

    at: datetime = START

    def __call__(self) -> datetime:
        return self.at

    def tick(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class Post:
    """A sender. `endings` holds what the next letters of a key come to, `Sent` when there is none; `during` runs while
    a letter is on its way; `booked` are the endings that were settled."""

    sent: list[str] = field(default_factory=list)
    endings: dict[str, deque[Ending]] = field(default_factory=lambda: defaultdict(deque))
    booked: list[tuple[str, Ending]] = field(default_factory=list)
    during: Callable[[Letter], None] = lambda _: None
    booking: Callable[[OutboxItem], None] = lambda _: None
    most_at_once: int = 0
    _now_on_the_way: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, letter: Letter) -> Ending:
        with self._lock:
            self._now_on_the_way += 1
            self.most_at_once = max(self.most_at_once, self._now_on_the_way)
        try:
            self.during(letter)
            with self._lock:
                self.sent.append(letter.key)
                waiting = self.endings[letter.key]
                return waiting.popleft() if waiting else Sent()
        finally:
            with self._lock:
                self._now_on_the_way -= 1

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        self.booking(item)
        self.booked.append((item.key, ending))

    def counted(self) -> Counter[str]:
        return Counter(self.sent)


def put(store: Store, *keys: str, lane: str | None = None, kind: OutboxKind = OutboxKind.HUD) -> Sequence[int]:
    """Rows of these keys, each in a lane of its own unless one is named."""
    items = [NewItem(kind, key, lane or key, "hud", {}) for key in keys]
    with store.writing() as session:
        return enqueue_all(session, items, START)


def row(store: Store, key: str) -> OutboxItem:
    with store.reading() as session:
        return session.scalars(select(OutboxItem).where(OutboxItem.key == key)).one()


def deliverer(
    store: Store, post: Post, clock: Clock, *, workers: int = 4, terms: RetryTerms | None = None
) -> Deliverer:
    return Deliverer(store, {OutboxKind.HUD: post}, clock, workers, terms=terms, lease_s=30.0, poll_s=0.05)
