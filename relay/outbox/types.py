"""The words between the outbox and those who send: a `Letter` goes in, one of three endings comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from sqlalchemy.orm import Session

from relay.store.crcr_models import OutboxItem, OutboxKind


@dataclass(frozen=True, slots=True)
class Letter:
    """A row to be sent. `attempt` counts from 1; `target` is a repository or an address; `body` is the sender's own."""

    id: int
    kind: OutboxKind
    key: str
    target: str
    attempt: int
    body: Mapping[str, Any] = field(repr=False)
    dispatch_id: int | None = None
    job_id: int | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """It arrived. `answer` is what the sender's own bookkeeping needs of the reply."""

    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Postponed:
    """It did not, and may later: after `after_s` seconds when the other side named a time, else at our own pace."""

    reason: str
    status: int | None = None
    after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """It never will: the other side refuses this very request. Only a person may send it again."""

    reason: str
    status: int | None = None


Ending = Sent | Postponed | Undeliverable


class Sender(Protocol):
    """Sends the rows of one kind."""

    def send(self, letter: Letter) -> Ending:
        """Make the request, outside of any transaction. Never raises over the other side's behaviour."""
        ...

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Keep the books, in the transaction that settles or postpones the row."""
        ...


@runtime_checkable
class HoldsConnections(Protocol):
    """A sender that has something to give back when the outbox stops."""

    def close(self) -> None:
        """Close the connections."""
        ...


class Outbox(Protocol):
    """Delivers rows. One per process; several processes share the table."""

    def start(self) -> None:
        """Begin to deliver in threads of this process."""
        ...

    def stop(self) -> None:
        """End the threads after the letters they hold."""
        ...

    def notify(self) -> None:
        """Something may be due: look now rather than at the next turn."""
        ...

    def deliver_due(self) -> int:
        """Deliver in this thread all that is due now, and what becomes due by that; how many letters were sent."""
        ...

    def deliver_now(self, ids: Sequence[int]) -> Mapping[int, Ending]:
        """Deliver these rows at once, several at a time, and wait: the ending of each that was still open."""
        ...
