"""Sending results while tests run: small batches, in order, numbered from 1 within a lease.

Owns one posting thread per shard, so that a slow relay does not hold up the device. A failed post ends the shard: the
error is raised in the shard's own thread, at the next result or at the end.
"""

from __future__ import annotations

import queue
import threading
import time
from contextvars import copy_context
from types import TracebackType
from typing import Protocol, Self

from relay.contract import Lease, TestResult
from workers.relay_client import RelayError

#: A message costs the relay as much as some dozen results; tests that take longer than 10 ms never fill one.
BATCH_SIZE = 100
BATCH_SECONDS = 1.0


class ResultChannel(Protocol):
    """What posting needs of the relay client."""

    def post_results(self, lease: Lease, sequence: int, results: tuple[TestResult, ...]) -> None: ...


class ResultPoster:
    """Takes results from the shard and posts them after `BATCH_SIZE` of them or `BATCH_SECONDS`, what is first.

    Leaving the context posts what is left; when the shard itself failed, that is still tried, and the shard's error
    is the one that counts.
    """

    def __init__(self, channel: ResultChannel, lease: Lease) -> None:
        self._channel = channel
        self._lease = lease
        self._waiting: queue.SimpleQueue[TestResult | None] = queue.SimpleQueue()
        self._error: RelayError | None = None
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._post_all,), name=f"results-{lease.shard_id}", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.put(None)
        self._thread.join()
        if error is None:
            self._raise_failure()

    def add(self, result: TestResult) -> None:
        """Hand over a result. Raises the `RelayError` of an earlier batch."""
        self._raise_failure()
        self._waiting.put(result)

    @property
    def failed(self) -> bool:
        return self._error is not None

    def _raise_failure(self) -> None:
        if self._error is not None:
            raise self._error

    def _post_all(self) -> None:
        sequence, open_end = 0, True
        while open_end:
            batch, open_end = self._next_batch()
            if not batch:
                continue
            sequence += 1
            try:
                self._channel.post_results(self._lease, sequence, batch)
            except RelayError as error:
                self._error = error
                return

    def _next_batch(self) -> tuple[tuple[TestResult, ...], bool]:
        """The next batch, and whether more may follow. Waits for a first result without limit."""
        batch: list[TestResult] = []
        deadline = None
        while len(batch) < BATCH_SIZE:
            try:
                result = self._waiting.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if result is None:
                return tuple(batch), False
            batch.append(result)
            deadline = deadline or time.monotonic() + BATCH_SECONDS
        return tuple(batch), True
