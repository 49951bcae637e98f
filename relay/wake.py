"""Wake-up messages to the workers of a device: a nudge without content, sent after the commit.

Owns the producer side of the queue. A wake-up that cannot be sent is logged and forgotten: the sweep sends another. So
nothing here may fail a request, and nothing here carries work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import structlog
from celery import Celery
from kombu.exceptions import KombuError, OperationalError

from relay.contract import WAKE_TASK, broker_connection, queue_name

_log = structlog.get_logger(__name__)

#: A wake-up nobody took within this time is dropped: the sweep has sent newer ones since.
_EXPIRES_S = 60
_CONNECT_S = 2.0
#: How long nothing is sent after a broker failed: everybody would wait for it in turn. The sweep sends again.
_PAUSE_S = 2.0
_NO_QUEUES: Mapping[str, str] = {}
#: How many send at a time.
_AT_ONCE = 4


class Waker(Protocol):
    """Tells the workers of a device that something is due."""

    def wake(self, device: str) -> bool:
        """Send one wake-up. False when the broker could not be reached; never raises for that."""
        ...

    def close(self) -> None:
        """Let go of connections; nothing is sent afterwards."""
        ...


class CeleryWaker:
    """Sends wake-ups through a Celery broker, as a producer only: no results, JSON, no retries of its own. However many
    call while the broker is away, none of them waits for longer than two of its timeouts."""

    def __init__(self, broker_url: str, queues: Mapping[str, str] = _NO_QUEUES) -> None:
        """`queues` are those of devices whose queue has another name than they."""
        self._queues = queues
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._away_until = 0.0
        connection = broker_connection(broker_url)
        self._folder = connection.folder
        self._celery = Celery("relay", broker=connection.url, set_as_current=False)
        self._celery.conf.update(
            task_serializer="json",
            accept_content=["json"],
            task_ignore_result=True,
            broker_connection_timeout=_CONNECT_S,
            broker_transport_options=_transport_options(connection.transport_options, broker_url),
        )

    def wake(self, device: str) -> bool:
        with self._turn() as mine:
            return mine and self._send(device)

    @contextmanager
    def _turn(self) -> Iterator[bool]:
        """Whether it is ours to send: not while the broker is away, and not when too many find that out just now."""
        if self._away() or not self._turns.acquire(timeout=_CONNECT_S):
            yield False
            return
        try:
            yield not self._away()
        finally:
            self._turns.release()

    def _away(self) -> bool:
        return time.monotonic() < self._away_until

    def _send(self, device: str) -> bool:
        try:
            self._ensure_folder()
            self._celery.send_task(
                WAKE_TASK,
                queue=queue_name(self._queues.get(device, device)),
                expires=_EXPIRES_S,
                ignore_result=True,
                retry=False,
            )
        except (KombuError, OperationalError, OSError) as error:
            # Only the kind of fault: broker URLs and their errors can hold a password.
            _log.warning("wake_failed", device=device, fault=type(error).__name__)
            self._away_until = time.monotonic() + _PAUSE_S
            return False
        return True

    def close(self) -> None:
        """Let go of the pooled connections."""
        self._celery.close()

    def _ensure_folder(self) -> None:
        if self._folder is not None:
            for name in ("messages", "control"):
                (self._folder / name).mkdir(parents=True, exist_ok=True)


def _transport_options(given: dict[str, str], broker_url: str) -> dict[str, object]:
    if broker_url.startswith(("redis://", "rediss://")):
        bounded = {"socket_connect_timeout": _CONNECT_S, "socket_timeout": _CONNECT_S}
        # A connection that a firewall forgot is noticed before it is used, not by waiting for its answer.
        return {**given, **bounded, "socket_keepalive": True, "health_check_interval": 20}
    return dict(given)
