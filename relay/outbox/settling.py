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

#: Letters of one transaction: enough to share its cost, few enough that a webhook does not wait long for the database.
_TOGETHER = 16


class Settler:
    """Settles letters, several in one transaction: they then wait once for the database, not each for itself."""

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
            SQLAlchemyError: the database is away; what was not settled may be given again.
        """
        settled: dict[int, Ending] = {}
        for start in range(0, len(endings), _TOGETHER):
            settled |= self._settle_some(endings[start : start + _TOGETHER])
        return settled

    def _settle_some(self, endings: Sequence[tuple[Claimed, Ending]]) -> dict[int, Ending]:
        now = self._now()
        with self._store.writing() as session:
            items = held(session, [claimed for claimed, _ in endings])
            for claimed, _ in endings:
                if claimed.letter.id not in items:
                    _log.warning("outbox_lease_lost", item=claimed.letter.id, kind=claimed.letter.kind)
            mine = [(items[one.letter.id], ending) for one, ending in endings if one.letter.id in items]
            last = {item.id: final(item, ending, self._terms, now) for item, ending in mine}
            if not self._all_booked(session, items, last, now):
                last = {item.id: self._booked_alone(session, item, last[item.id], now) for item, _ in mine}
        for row, ending in last.items():
            _tell(items[row], ending)
        return last

    def _all_booked(
        self, session: Session, items: Mapping[int, OutboxItem], last: Mapping[int, Ending], now: datetime
    ) -> bool:
        """Settle all at once. False when a sender's books fail: nothing is written then."""
        try:
            with session.begin_nested():
                self._book(session, [(items[row], ending) for row, ending in last.items()], now)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # noqa: BLE001  # a sender's bug: which one, and why, is found when each is booked alone
            return False
        return True

    def _booked_alone(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> Ending:
        try:
            with session.begin_nested():
                self._book(session, [(item, ending)], now)
        except (OperationalError, InterfaceError):
            raise
        except Exception as fault:  # noqa: BLE001  # a sender's bug; sending again would not mend its books
            return self._park(session, item, fault, now)
        return ending

    def _book(self, session: Session, endings: Sequence[tuple[OutboxItem, Ending]], now: datetime) -> None:
        for item, ending in endings:
            self._senders[item.kind].settle(session, item, ending, now)
        # The rows come last: they are then written in one go, and not one before each sender's next statement.
        for item, ending in endings:
            conclude(item, ending, self._terms, now)

    def _park(self, session: Session, item: OutboxItem, fault: Exception, now: datetime) -> Ending:
        _log.error("outbox_books_failed", item=item.id, kind=item.kind, exc_info=fault)
        session.refresh(item)
        parked = Undeliverable(f"sent or not, the relay could not note it: {type(fault).__name__}")
        conclude(item, parked, self._terms, now)
        return parked


def _tell(item: OutboxItem, ending: Ending) -> None:
    if isinstance(ending, Undeliverable):
        _log.error("outbox_dead", item=item.id, kind=item.kind, target=item.target, reason=ending.reason)
