"""Saying to the relay that this worker is there, from its start to its end, also while it has nothing to do.

Owns one thread of the worker's main process, beside Celery's. It stands in nobody's way: a relay that is slow or away
costs it a turn, and the worker nothing. It begins once the pool is there: a fork beside a thread that imports or logs
could leave a lock behind in the child.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from importlib.metadata import version
from types import TracebackType
from typing import Protocol, Self

import structlog

from relay.contract import ENVIRONMENTS_CAP, SHORT_CAP, PresenceReply, TestedOn, WorkerPresent
from workers.environments.environment import EnvironmentProblemError
from workers.relay_client import RelayError
from workers.settings import WorkerSettings
from workers.shards.report import capped
from workers.workbench import Bench
from workers.workspace import NoRoomError, Workspace

log = structlog.get_logger(__name__)

#: Until the relay has said how often it wants to hear of us.
FIRST_INTERVAL_S = 20.0
#: After a word that the relay did not hear, twice as long after each more: a worker may start before its relay, and
#: somebody looks for it then.
_FIRST_RETRY_S = 1.0
#: Whatever the relay says, it is not asked more often, nor forgotten for longer.
_LEAST_S, _MOST_S = 0.05, 300.0


class PresenceChannel(Protocol):
    """What this needs of the relay client."""

    def present(self, message: WorkerPresent) -> PresenceReply: ...


class Presence:
    """Posts `describe()` at `start`, then as often as the relay wants, and a goodbye when the context is left."""

    def __init__(
        self,
        channel: PresenceChannel,
        describe: Callable[[], WorkerPresent],
        *,
        first_interval_s: float = FIRST_INTERVAL_S,
    ) -> None:
        self._channel = channel
        self._describe = describe
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="presence", daemon=True)
        self._interval_s = first_interval_s
        self._retry_s = _FIRST_RETRY_S
        self._heard = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say goodbye, once: who does not hear it notices the silence."""
        self._ended.set()
        if self._thread.ident is None:
            return
        self._thread.join()
        self._say(leaving=True)

    def start(self) -> None:
        """Begin, unless it has begun: Celery may say more than once that it is ready."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._say(leaving=False)
            self._ended.wait(self._pause_s())

    def _pause_s(self) -> float:
        if self._heard:
            self._retry_s = _FIRST_RETRY_S
            return self._interval_s
        pause_s, self._retry_s = self._retry_s, 2 * self._retry_s
        return min(pause_s, self._interval_s)

    def _say(self, *, leaving: bool) -> None:
        try:
            reply = self._channel.present(self._describe().model_copy(update={"leaving": leaving}))
        except RelayError as error:
            self._tell(str(error))
        else:
            self._interval_s = min(max(reply.again_in_s, _LEAST_S), _MOST_S)
            self._tell("")

    def _tell(self, problem: str) -> None:
        """A relay that is away for hours is told once, and once that it is back."""
        if problem and self._heard:
            log.warning("the relay does not hear that this worker is there", error=problem)
        elif not problem and not self._heard:
            log.info("the relay hears again that this worker is there")
        self._heard = not problem


def describer(settings: WorkerSettings, bench: Bench, workspace: Workspace) -> Callable[[], WorkerPresent]:
    """What this process says of itself; its environments and its disk are looked at anew each time."""
    process = secrets.token_hex(8)

    def describe() -> WorkerPresent:
        return WorkerPresent(
            worker=settings.worker_name,
            device=settings.device,
            process=process,
            version=version("oot-relay"),
            concurrency=settings.worker_concurrency,
            sandbox=capped(bench.confinement, SHORT_CAP),
            manifest_profile=settings.manifest_profile.value,
            environments=_environments(bench),
            trouble=capped(_want_of_room(workspace), SHORT_CAP),
        )

    return describe


def _environments(bench: Bench) -> tuple[TestedOn, ...]:
    try:
        return tuple(bench.tested_on(found) for found in bench.environments())[:ENVIRONMENTS_CAP]
    except EnvironmentProblemError:
        return ()  # what is wrong is said by the shard that needs one


def _want_of_room(workspace: Workspace) -> str:
    """Why nothing is leased until there is room again; empty while there is."""
    try:
        workspace.check_room()
    except NoRoomError as error:
        return str(error)
    return ""
