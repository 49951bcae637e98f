"""Sending what happens to a shard while it happens. A log is worth less than the tests it tells of.

Owns one thread per shard. Nothing here makes a shard wait or fail: a relay that is slow, away, or of a version without
logs costs lines of the log, and the log says how many.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from itertools import islice
from types import TracebackType
from typing import Protocol, Self

import structlog

from relay.contract import LOG_LINES_CAP, LOG_TEXT_CAP, Lease, LogKind, LogLine, LogTaken, Tree
from relay.trail.redaction import Redactor
from workers.relay_client import LeaseLostError, RelayError, RelayUnavailableError
from workers.runner.types import Collection, TestOutcome
from workers.shards import log_lines
from workers.shards.report import capped

log = structlog.get_logger(__name__)

BATCH_SECONDS = 1.0
#: Lines that may wait for a relay that does not take them: some megabytes.
WAITING_LINES = 20_000
#: How long the end of a shard may wait for its last lines.
LAST_WORDS_SECONDS = 2.0
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0


class LogChannel(Protocol):
    """What a log needs of the relay client."""

    def post_log(self, lease: Lease, first: int, lines: tuple[LogLine, ...]) -> LogTaken: ...


class OutcomeLog(Protocol):
    """What the policies of a shard tell of."""

    def tested(self, outcome: TestOutcome, tree: Tree, number: int, *, expected: bool) -> None:
        """A test ended, on its nth try on a tree; `expected` as it should."""
        ...

    def collected(self, file: str, found: Collection, tree: Tree) -> None:
        """A file was collected, or not."""
        ...


class NoLog:
    """For a shard that nobody reads about."""

    def tested(self, outcome: TestOutcome, tree: Tree, number: int, *, expected: bool) -> None:
        del outcome, tree, number, expected

    def collected(self, file: str, found: Collection, tree: Tree) -> None:
        del file, found, tree


class ShardLog:
    """Takes lines from the shard and posts them, some at a time. At the end of the context what is left is posted,
    within `LAST_WORDS_SECONDS`. What comes of tests was redacted by the runner; the worker's own words are here."""

    def __init__(
        self,
        channel: LogChannel,
        lease: Lease,
        redact: Callable[[str], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        unwanted: Callable[[], None] = lambda: None,
    ) -> None:
        """`unwanted` is called when the relay answers that nobody waits for the shard any more."""
        self._channel, self._lease, self._redact, self._clock = channel, lease, redact or Redactor(), clock
        self._unwanted = unwanted
        self._began = clock()
        self._waiting: deque[LogLine] = deque()
        self._dropped = 0
        self._tries = 0
        self._idle = True
        self._hurried = self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._post_all,), name=f"log-{lease.shard_id}", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()
        self._close()

    def step(self, text: str) -> None:
        """The worker does something else now."""
        self._add(log_lines.of_step(self._redact(text)))

    def tested(self, outcome: TestOutcome, tree: Tree, number: int, *, expected: bool) -> None:
        self._add(log_lines.of_outcome(outcome, tree, number, expected=expected))

    def collected(self, file: str, found: Collection, tree: Tree) -> None:
        self._add(log_lines.of_collection(file, found, tree))

    def failed(self, sentence: str) -> None:
        """The shard itself could not go on."""
        self._add([(LogKind.FAILURE, capped(self._redact(sentence), LOG_TEXT_CAP))])

    def flush(self, seconds: float = LAST_WORDS_SECONDS) -> None:
        """Wait until all is posted, one more try has failed, or the time is over."""
        with self._changed:
            self._hurried = True
            tries = self._tries
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._closed or self._tries > tries or self._done(), seconds)
            self._hurried = False

    def _done(self) -> bool:
        return self._idle and not self._waiting

    def _close(self) -> None:
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _add(self, lines: Iterable[log_lines.Line]) -> None:
        at = round(max(0.0, self._clock() - self._began), 3)
        with self._changed:
            for kind, text in lines:
                self._take(LogLine.model_construct(at=at, kind=kind, text=text))
            self._changed.notify_all()

    def _take(self, line: LogLine) -> None:
        if self._closed:
            return
        if len(self._waiting) >= WAITING_LINES:
            self._dropped += 1
            return
        if self._dropped:
            text = f"[{self._dropped} lines are missing here: the relay did not take them in time]"
            self._waiting.append(LogLine(at=line.at, kind=LogKind.NOTE, text=text))
            self._dropped = 0
        self._waiting.append(line)

    def _post_all(self) -> None:
        sent, wait = 0, _FIRST_WAIT_S
        while batch := self._next_batch():
            try:
                taken = self._channel.post_log(self._lease, sent, batch)
            except RelayUnavailableError:
                self._tried()
                self._pause(wait)
                wait = min(2 * wait, _LONGEST_WAIT_S)
                continue
            except RelayError as error:
                log.info("the relay takes no log of this shard", error=str(error))
                if isinstance(error, LeaseLostError):
                    self._unwanted()
                self._close()
                return
            sent, wait = sent + len(batch), _FIRST_WAIT_S
            self._posted(len(batch))
            if taken.stop:
                self._unwanted()
            if taken.full:
                self._close()

    def _next_batch(self) -> tuple[LogLine, ...]:
        """What to post next; nothing once the log is closed. Waits for company unless there is a hurry."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting)
            self._changed.wait_for(
                lambda: self._closed or self._hurried or len(self._waiting) >= LOG_LINES_CAP, BATCH_SECONDS
            )
            if self._closed:
                return ()
            self._idle = False
            return tuple(islice(self._waiting, LOG_LINES_CAP))

    def _posted(self, count: int) -> None:
        with self._changed:
            # `_close` may have emptied it meanwhile.
            for _ in range(min(count, len(self._waiting))):
                self._waiting.popleft()
            self._idle = True
            self._changed.notify_all()

    def _tried(self) -> None:
        with self._changed:
            self._tries += 1
            self._idle = True
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._hurried, seconds)
