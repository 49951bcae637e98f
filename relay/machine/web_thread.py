"""A web application served in a thread, from ready to stopped.

Not in the main thread: there the server would take the signals over, and one that came a moment before that is lost.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from relay.machine.listening import NotStarted

logger = logging.getLogger(__name__)

_START_S = 60.0
#: Beside what open requests are given.
_STOP_S = 13.0


@contextmanager
def web_thread(app: FastAPI, listener: socket.socket, *, drain_s: int) -> Iterator[threading.Thread]:
    """Serve on a socket that listens. Requests that are open at the end get `drain_s` seconds.

    Raises:
        NotStarted: the application did not come up.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,  # the server would believe whoever is on this machine; the application has a setting
        timeout_graceful_shutdown=drain_s,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="web", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield thread
    finally:
        server.should_exit = True
        thread.join(drain_s + _STOP_S)
        if thread.is_alive():
            logger.warning("the web part did not stop within %.0f s", drain_s + _STOP_S)


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise NotStarted("the web part of the service did not start", "`relay doctor` checks what it needs")
        time.sleep(0.01)
