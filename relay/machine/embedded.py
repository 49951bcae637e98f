"""The whole service on one machine: the web part in a thread, the background and workers as supervised children.

Used by `relay up` and by the demo. Owns the order of starting and stopping, and the listening socket. The web
application comes from `create_app`, how a worker is started from `relay.machine.worker_processes`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from relay.app import create_app
from relay.contract import broker_connection
from relay.machine.background_process import background_process
from relay.machine.listening import listen, url_of
from relay.machine.processes import Supervisor
from relay.machine.state_folder import announce, hold
from relay.machine.web_thread import web_thread
from relay.machine.worker_processes import ensure_broker_folder, handed_addresses, worker_specs
from relay.settings import RelaySettings, with_secrets

#: Event streams are open for as long as a run; they must not hold up the end.
_DRAIN_S = 2


class EmbeddedService:
    """A running service between `__enter__` and `__exit__`.

    `port` 0 takes a free one. Raises `AlreadyRunning` when the state folder is in use, `NotStarted` when the port is
    taken or the application does not come up.
    """

    def __init__(
        self,
        settings: RelaySettings,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        workers: int = 1,
        grace_s: float = 10.0,
    ) -> None:
        self._given = settings
        self._host = host
        self._port = port
        self._workers = workers
        self._grace_s = grace_s
        self._running = ExitStack()
        self.settings = settings
        self._supervisor: Supervisor | None = None
        self._web = threading.current_thread()
        self.url = ""

    def __enter__(self) -> EmbeddedService:
        with ExitStack() as stack:
            stack.enter_context(hold(self._given.state_dir))
            listener = stack.enter_context(listen(self._host, self._port))
            self.url = url_of(self._host, listener)
            self.settings = self._settings()
            app = create_app(self.settings, answers_only=True)
            stack.enter_context(background_process(self.settings, self.background_log))
            self._web = stack.enter_context(web_thread(app, listener, drain_s=_DRAIN_S))
            handed = stack.enter_context(handed_addresses(self.settings, os.environ))
            self._supervisor = stack.enter_context(self._supervise(handed))
            stack.enter_context(announce(self._given.state_dir, self.url))
            self._running = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()
        self._supervisor = None

    @property
    def web(self) -> threading.Thread:
        """The thread that serves; before and after that the caller's own."""
        return self._web

    def worker_pids(self) -> tuple[int, ...]:
        """Process ids of the workers that run now; a worker that has just died is missing until it is restarted."""
        return self._supervisor.pids() if self._supervisor else ()

    def worker_logs(self) -> tuple[Path, ...]:
        """Where each worker writes."""
        specs = worker_specs(self.settings, self.url, self._workers)
        return tuple(spec.log_file for spec in specs if spec.log_file is not None)

    @property
    def background_log(self) -> Path:
        """Where the background writes."""
        return self._given.state_dir / "logs" / "background.log"

    def _settings(self) -> RelaySettings:
        own = {} if "public_url" in self._given.model_fields_set else {"public_url": self.url}
        return with_secrets(self._given.model_copy(update=own))

    def _supervise(self, handed: Mapping[str, int]) -> Supervisor:
        broker = broker_connection(self.settings.broker_url)
        specs = worker_specs(self.settings, self.url, self._workers, handed)
        return Supervisor(specs, upkeep=lambda: ensure_broker_folder(broker), grace_s=self._grace_s)
