"""An application behind a real socket of this machine, for what only a socket shows: streams, cut bodies, browsers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI


@contextmanager
def serving(app: FastAPI, *, whole: bool = False) -> Iterator[str]:
    """The address of the application on a free port. The port listens from the start, so nobody has to wait for it.
    `whole`: with what it does by itself while it serves, its sweep for example."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=1, lifespan="on" if whole else "off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
    assert not thread.is_alive(), "the server did not stop"
