"""Errands: what is done now and then by asking somebody outside, who may answer late or not at all.

Owns the thread that looks which are due and keeps the duty, and one for each errand that is out: neither the sweep nor
another errand waits for a network. Of several processes one runs errands at a time; each is still safe twice at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from relay.runs.sweeper import Recurring, Turn
from relay.trail.tracing import span

_log = structlog.get_logger(__name__)

#: How long an end is waited for: an errand ends after the request it is at. One left behind ends with the process.
_PATIENCE_S = 5.0


@dataclass(eq=False)
class Errand(Recurring):
    """Never run beside itself. `work` opens its own sessions; it is handed what tells whether to stop, and asks that
    before each request."""

    name: str
    work: Callable[[Callable[[], bool]], object]


class Errands:
    """Looks every `look_s` seconds between `start` and `stop` what is due. Without errands there is no thread."""

    def __init__(
        self,
        errands: Sequence[Errand],
        *,
        turn: Turn,
        look_s: float,
        now: Callable[[], datetime],
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """`patience_s` bounds the wait in `stop`."""
        self._errands = tuple(errands)
        self._turn = turn
        self._look_s = look_s
        self._now = now
        self._patience_s = patience_s
        self._ours = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._out: dict[Errand, threading.Thread] = {}

    def start(self) -> None:
        """Begin, at once with everything."""
        if self._errands:
            self._thread = threading.Thread(target=self._run, name="relay-errands", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the threads after the requests they are at. The duty of what does not end in time is not given back: it
        runs out, as that of a process that died. Not to be started again."""
        self._stopping.set()
        if self._thread is None:
            return
        until = time.monotonic() + self._patience_s
        self._thread.join(self._patience_s)  # from then on nothing more is sent out
        threads = (self._thread, *self._out.values())
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        if left := [thread.name for thread in threads if thread.is_alive()]:
            _log.warning("errands_left_behind", threads=left)
        else:
            self._guarded("release", self._turn.release)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._guarded("look", self._look)
            self._stopping.wait(self._look_s)

    def _look(self) -> None:
        """Keep the duty while errands are out, and send those that are due."""
        self._ours = self._turn.hold()
        self._out = {errand: thread for errand, thread in self._out.items() if thread.is_alive()}
        for errand in self._errands:
            if not self._is_over() and errand not in self._out and errand.is_due(self._now()):
                self._send(errand)

    def _send(self, errand: Errand) -> None:
        thread = threading.Thread(target=self._do, args=(errand,), name=f"relay-errand {errand.name}", daemon=True)
        thread.start()
        self._out[errand] = thread

    def _do(self, errand: Errand) -> None:
        with span(f"errand {errand.name}"):
            self._guarded(errand.name, lambda: errand.work(self._is_over))

    def _is_over(self) -> bool:
        """Whether errands that are out are to end: with this process, or since another one has the duty."""
        return self._stopping.is_set() or not self._ours

    def _guarded(self, errand: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001  # whatever an errand runs into, the others and its own next turn come
            _log.error("errand_failed", errand=errand, exc_info=True)
