"""Writes endings down: the row's new state and the sender's own books, in one transaction.

A sender that cannot keep its books must not have its letter sent again for that: the row is parked with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from relay.outbox.leasing import Claimed, conclude, final, held
from relay.outbox.retrying import RetryTerms
from relay.outbox.types import Ending, Sender, Undeliverable
from relay.store.crcr_models import OutboxItem, OutboxKind
from relay.store.engine import Store

_log = structlog.get_logger(__name__)


class Settler:
    """Settles letters, many in one transaction: their writes then wait once for the database, not each for itself."""

    def __init__(
        self, store: Store, senders: Mapping[OutboxKind, Sender], now: Callable[[], datetime], terms: RetryTerms
    ) -> None:
        self._store = store
        self._senders = senders
        self._now = now
        self._terms = terms

    def settle(self, endings: Sequence[tuple[Claimed, Ending]]) -> dict[int, Ending]:
        """What became of each letter, by its id; one whose lease was lost is left to who has it now.

        Raises:
            SQLAlchemyError: the database is away; nothing is settled.
        """
        if not endings:
            return {}
        with self._store.writing() as session:
            settled = [(claimed.letter.id, self._settle_one(session, claimed, ending)) for claimed, ending in endings]
        return {row: ending for row, ending in settled if ending is not None}

    def _settle_one(self, session: Session, claimed: Claimed, ending: Ending) -> Ending | None:
        item = held(session, claimed)
        if item is None:
            _log.warning("outbox_lease_lost", item=claimed.letter.id, kind=claimed.letter.kind)
            return None
        now = self._now()
        last = final(item, ending, self._terms, now)
        try:
            with session.begin_nested():
                conclude(item, last, self._terms, now)
                self._senders[item.kind].settle(session, item, last, now)
        except (OperationalError, InterfaceError):
            raise
        except Exception as fault:  # noqa: BLE001  # a sender's bug; sending again would not mend its books
            return self._park(session, item, fault, now)
        _tell(item, last)
        return last

    def _park(self, session: Session, item: OutboxItem, fault: Exception, now: datetime) -> Ending:
        _log.error("outbox_books_failed", item=item.id, kind=item.kind, exc_info=fault)
        session.refresh(item)
        parked = Undeliverable(f"sent or not, the relay could not note it: {type(fault).__name__}")
        conclude(item, parked, self._terms, now)
        return parked


def _tell(item: OutboxItem, ending: Ending) -> None:
    if isinstance(ending, Undeliverable):
        _log.error("outbox_dead", item=item.id, kind=item.kind, target=item.target, reason=ending.reason)
