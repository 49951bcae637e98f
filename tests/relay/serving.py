"""An application behind a real socket of this machine, for what only a socket shows: streams, cut bodies, browsers."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

_LOOKS_S = 0.01
_CALMS_DOWN_S = 1.0


class _Prompt(uvicorn.Server):
    """Ends as uvicorn does, but looks often: many tests have a server, and its pauses would add up to minutes."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(_LOOKS_S)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for closing in (*self.servers, *(sockets or ())):
            closing.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _CALMS_DOWN_S
        while (self.server_state.connections or self.server_state.tasks) and loop.time() < deadline:
            await asyncio.sleep(_LOOKS_S)
        for task in self.server_state.tasks:
            task.cancel()
        await self.lifespan.shutdown()


@contextmanager
def serving(app: FastAPI, *, whole: bool = False) -> Iterator[str]:
    """The address of the application on a free port. The port listens from the start, so nobody has to wait for it.
    `whole`: with what it does by itself while it serves, its sweep for example."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Prompt(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on" if whole else "off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
    assert not thread.is_alive(), "the server did not stop"
