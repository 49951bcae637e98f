"""When a process of the worker's pool works: whenever a message wakes it, and every now and then of its own accord.

A message can be lost with its broker, be too old by a clock that is wrong, or lie behind a connection that carries
nothing any more. None of that may leave a worker idle beside work that is due, and the broker will not notice it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import structlog
from celery.signals import worker_process_init, worker_process_shutdown

log = structlog.get_logger(__name__)

#: An idle worker asks so often. The relay wakes again within seconds, so this is for when waking does not work.
LOOK_S = 20.0
#: Without these a worker waits for ever for an answer on a connection that was lost without a word: kombu sees after
#: two checks that nothing comes, and then asks on another connection, which is as dead.
_PATIENCE = {
    "socket_timeout": 10.0,
    "socket_connect_timeout": 5.0,
    "socket_keepalive": True,
    "health_check_interval": 10,
}


class Awake:
    """Does `work`, which returns how much there was, one time at once however many ask for it.

    `start` and `stop` are for the life of a pool process, after its fork: they hold a thread.
    """

    def __init__(self, work: Callable[[], int], *, look_s: float = LOOK_S) -> None:
        self._work = work
        self._look_s = look_s
        self._asked = threading.Event()
        self._at_it = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def woken(self) -> int:
        """Work, unless that is being done: who is at it then looks once more. How much there was."""
        self._asked.set()
        done = 0
        while self._asked.is_set() and self._at_it.acquire(blocking=False):
            try:
                self._asked.clear()
                done += self._work()
            finally:
                self._at_it.release()
        return done

    def start(self) -> None:
        """Begin to look by itself."""
        self._thread = threading.Thread(target=self._look, name="look", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more, and wait for the end of what was found so: it has to be given back."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        # Not all workers of a machine that was started just now at once.
        while not self._ended.wait(self._look_s * random.uniform(0.5, 1.0)):  # noqa: S311  # no secret
            try:
                done = self.woken()
            except Exception:  # the thread has to outlive whatever the work ran into: the next look may be better
                log.exception("work could not be looked for")
            else:
                if done:
                    log.warning("worked without being woken: is the broker well?", shards=done)


def awake_in_the_pool(work: Callable[[], int]) -> Awake:
    """One that also looks by itself in every process of a Celery pool, from its start to its end."""
    awake = Awake(work, look_s=LOOK_S)

    def start(**_: Any) -> None:
        awake.start()

    def stop(**_: Any) -> None:
        awake.stop()

    worker_process_init.connect(start, weak=False)
    worker_process_shutdown.connect(stop, weak=False)
    return awake


def is_redis(broker_url: str) -> bool:
    """Whether a broker speaks Redis's protocol."""
    return broker_url.startswith(("redis://", "rediss://"))


def patience(broker_url: str) -> dict[str, Any]:
    """How long a worker waits for its broker, as transport options of kombu."""
    return dict(_PATIENCE) if is_redis(broker_url) else {}
