"""Handles deliveries as they are told of, where the process that takes them in only answers.

Owns a thread and the bell it waits for, and that no fault ends that thread. What nobody told of, and what could not be
handled, is left to the sweep.
"""

from __future__ import annotations

import threading

import structlog
from sqlalchemy.exc import SQLAlchemyError

from relay.bell import Bell
from relay.context import RelayContext
from relay.intake.deliveries import sweep_deliveries

_log = structlog.get_logger(__name__)

#: Rung when a delivery was committed that somebody else is to handle.
INBOX = Bell()

#: Only so that a thread that nobody stops does look again.
_LOOK_S = 60.0
#: After a fault of our own, so that rings do not make a storm of it.
_PAUSE_S = 1.0


class InboxWatch:
    """Handles what is in the inbox at every ring, between `start` and `stop`."""

    def __init__(self, context: RelayContext) -> None:
        self._context = context
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="relay-inbox", daemon=True)

    def start(self) -> None:
        """Begin, at once with what is there."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the delivery it is at."""
        self._stopping.set()
        INBOX.ring()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            heard = INBOX.rings
            self._handle()
            INBOX.wait(heard, _LOOK_S)

    def _handle(self) -> None:
        try:
            sweep_deliveries(self._context)
        except SQLAlchemyError as error:
            _log.warning("inbox_database_away", fault=type(error).__name__)
        except Exception:  # noqa: BLE001  # nobody starts this thread again, and without it webhooks wait for the sweep
            _log.error("inbox_failed", exc_info=True)
            self._stopping.wait(_PAUSE_S)
