"""Delivers what is in the outbox: claims rows, has them sent several at a time, settles them.

Owns the threads, and that no fault of a sender, of the database or of its own ends them. Requests are made outside of
transactions. Knows no protocol.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime

import structlog
from sqlalchemy.exc import SQLAlchemyError

from relay.outbox.bell import BELL
from relay.outbox.leasing import Claimed, claim, due_ids, renew
from relay.outbox.retrying import RetryTerms
from relay.outbox.settling import Settler
from relay.outbox.types import Ending, HoldsConnections, Letter, Postponed, Sender, Sent
from relay.store.crcr_models import OutboxKind
from relay.store.engine import Store
from relay.trail.redaction import Redactor
from relay.trail.tracing import span

_log = structlog.get_logger(__name__)

#: Longer than any sender waits; a lease is prolonged while its letter is being sent, so this is only how long a killed
#: process keeps its rows.
_LEASE_S = 60.0
#: How often a deliverer looks when nothing rang: for what became due, and for what other processes put in.
_POLL_S = 1.0
#: What lands or becomes due within this time is settled or claimed in one go: each costs a transaction.
_GATHER_S = 0.01
#: After a fault of our own, which may come again at every turn.
_PAUSE_S = 1.0


class Deliverer:
    """Delivers rows of the kinds that have a sender, `workers` at a time. Implements `relay.outbox.types.Outbox`."""

    def __init__(
        self,
        store: Store,
        senders: Mapping[OutboxKind, Sender],
        now: Callable[[], datetime],
        workers: int,
        *,
        terms: RetryTerms | None = None,
        lease_s: float = _LEASE_S,
        poll_s: float = _POLL_S,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        """`redact` takes secrets out of reasons: who refuses a request may quote it, key and all."""
        self._store = store
        self._senders = dict(senders)
        self._now = now
        self._workers = workers
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._redact = redact or Redactor()
        self._settler = Settler(store, self._senders, now, terms or RetryTerms())
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to deliver, at once what a former process left."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="relay-outbox", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Claim nothing more, wait for the letters that are being sent, settle them. Not to be started again."""
        self._stopping.set()
        self.notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        for sender in self._senders.values():
            if isinstance(sender, HoldsConnections):
                sender.close()

    def notify(self) -> None:
        """Look now. Rows that `relay.outbox.queue` puts in do this by themselves when they are committed."""
        BELL.ring()

    def deliver_due(self) -> int:
        """Deliver in the caller's time all that is due now, and what becomes due by that. How many were sent."""
        sent = 0
        with ThreadPoolExecutor(self._workers) as pool:
            while claimed := self._claim_due(self._workers):
                sent += len(self._deliver(pool, claimed))
        return sent

    def deliver_now(self, ids: Sequence[int]) -> Mapping[int, Ending]:
        """Deliver these rows in the caller's time, due or not; the ending of each that was open and not held up."""
        endings: dict[int, Ending] = {}
        with ThreadPoolExecutor(max(1, min(self._workers, len(ids)))) as pool:
            while claimed := self._claim([row for row in ids if row not in endings], early=True):
                endings |= self._deliver(pool, claimed)
        return endings

    def _deliver(self, pool: ThreadPoolExecutor, claimed: Sequence[Claimed]) -> dict[int, Ending]:
        sent = list(pool.map(self._send, [one.letter for one in claimed]))
        return self._settler.settle(list(zip(claimed, sent, strict=True)))

    def _claim_due(self, limit: int, ours: Collection[int] = ()) -> Sequence[Claimed]:
        """`ours` are on their way: should their leases be over, for a clock that jumped or a machine that slept, they
        are nobody else's yet, and not to be sent beside themselves."""
        with self._store.reading() as session:
            ids = due_ids(session, self._senders, self._now(), limit + len(ours))
        return self._claim([row for row in ids if row not in ours][:limit])

    def _claim(self, ids: Collection[int], *, early: bool = False) -> Sequence[Claimed]:
        if not ids:
            return ()
        with self._store.writing() as session:
            return claim(session, ids, self._now(), self._lease_s, early=early)

    def _send(self, letter: Letter) -> Ending:
        try:
            with span(f"letter {letter.kind}", target=letter.target, attempt=letter.attempt, item=letter.id):
                ending = self._senders[letter.kind].send(letter)
        except Exception as fault:  # noqa: BLE001  # a sender's bug, or its database: the letter is kept, not the thread lost
            _log.error("outbox_sender_failed", item=letter.id, kind=letter.kind, exc_info=True)
            return Postponed(f"the relay's own fault: {type(fault).__name__}")
        return ending if isinstance(ending, Sent) else replace(ending, reason=self._redact(ending.reason))

    def _run(self) -> None:
        flights: dict[Future[Ending], Claimed] = {}
        renewed = time.monotonic()
        with ThreadPoolExecutor(self._workers, thread_name_prefix="relay-outbox") as pool:
            while flights or not self._stopping.is_set():
                heard = BELL.rings
                if time.monotonic() - renewed > self._lease_s / 3:
                    renewed = time.monotonic()
                    self._guarded("renew", lambda: self._renew(list(flights.values())))
                landed = self._guarded("settle", lambda: self._land(flights))
                if self._stopping.is_set() and not landed:
                    break  # their leases run out, as those of a process that died
                if not self._stopping.is_set():
                    self._guarded("claim", lambda: self._launch(pool, flights))
                BELL.wait(heard, self._poll_s)
                self._stopping.wait(_GATHER_S)

    def _launch(self, pool: ThreadPoolExecutor, flights: dict[Future[Ending], Claimed]) -> None:
        free = self._workers - len(flights)
        ours = {one.letter.id for one in flights.values()}
        for one in self._claim_due(free, ours) if free > 0 else ():
            flight = pool.submit(self._send, one.letter)
            flights[flight] = one
            flight.add_done_callback(lambda _: BELL.ring())

    def _land(self, flights: dict[Future[Ending], Claimed]) -> None:
        """Settle all that have an ending. Those stay in flight whose ending the database did not take."""
        landed = [flight for flight in flights if flight.done()]
        self._settler.settle([(flights[flight], flight.result()) for flight in landed])
        for flight in landed:
            del flights[flight]

    def _renew(self, claimed: Collection[Claimed]) -> None:
        if claimed:
            with self._store.writing() as session:
                renew(session, claimed, self._now(), self._lease_s)

    def _guarded(self, step: str, work: Callable[[], None]) -> bool:
        """Take a step of a turn. False when it ran into a fault of our own, which waiting does not mend."""
        try:
            work()
        except SQLAlchemyError as fault:
            _log.warning("outbox_database_away", step=step, fault=type(fault).__name__)
        except Exception:  # noqa: BLE001  # nobody starts this thread again, and without it nothing leaves the relay
            _log.error("outbox_step_failed", step=step, exc_info=True)
            self._stopping.wait(_PAUSE_S)
            return False
        return True
