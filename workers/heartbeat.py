"""Keeping a lease alive while a shard runs, and learning that nobody wants its result any more.

Owns one thread per shard. It stops nobody by force: the shard asks `stop_requested` at every test boundary.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

import structlog

from relay.contract import SHORT_CAP, HeartbeatReply, Lease
from workers.relay_client import LeaseLostError, RelayError

log = structlog.get_logger(__name__)


class HeartbeatChannel(Protocol):
    """What a heartbeat needs of the relay client."""

    def heartbeat(self, lease: Lease, progress: str) -> HeartbeatReply: ...


class StopReason(StrEnum):
    """Why a shard has to stop before its end."""

    CANCELLED = "the run was cancelled"
    LEASE_LOST = "the lease was lost"
    SHUTDOWN = "the worker is shutting down"


class LeaseKeeper:
    """Posts a heartbeat three times per lease period, from entering the context until leaving it.

    A relay that cannot be reached for a whole lease period has given the shard to somebody else: lost as well.
    """

    def __init__(self, channel: HeartbeatChannel, lease: Lease, shutting_down: Callable[[], bool]) -> None:
        self._channel = channel
        self._lease = lease
        self._shutting_down = shutting_down
        self._progress = ""
        self._stop: StopReason | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._beat,), name=f"heartbeat-{lease.shard_id}", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._thread.join()

    def end(self) -> None:
        """No more heartbeats: the relay was told that the shard is over."""
        self._ended.set()

    def say(self, progress: str) -> None:
        """The short word the next heartbeat carries to the page."""
        self._progress = progress[:SHORT_CAP]

    @property
    def stop_reason(self) -> StopReason | None:
        if self._stop is None and self._shutting_down():
            return StopReason.SHUTDOWN
        return self._stop

    def stop_requested(self) -> bool:
        return self.stop_reason is not None

    def lost(self) -> None:
        """Another message was answered that the lease is gone."""
        self._stop = StopReason.LEASE_LOST

    def unwanted(self) -> None:
        """Another message was answered that nobody waits for the shard. Sooner than the next heartbeat: results and
        lines of the log leave every second. After the shard's end it means nothing."""
        if self._stop is None and not self._ended.is_set():
            self._stop = StopReason.CANCELLED

    def _beat(self) -> None:
        renewed = time.monotonic()
        while self._stop is None and not self._ended.wait(self._lease.expires_in_s / 3):
            sent = time.monotonic()
            try:
                reply = self._channel.heartbeat(self._lease, self._progress)
            except LeaseLostError:
                self._stop = StopReason.LEASE_LOST
            except RelayError as error:
                log.warning("heartbeat failed", error=str(error))
                if time.monotonic() - renewed > self._lease.expires_in_s:
                    self._stop = StopReason.LEASE_LOST
            else:
                renewed = sent
                if reply.cancelled:
                    self._stop = StopReason.CANCELLED
