"""What stands before the replicas, and between a worker and Redis: takes connections, hands each to one of some ports
that listens, and can fail on purpose.

Each worker has its own, so that its way can be cut while the others go on. Bytes are not looked at.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from enum import StrEnum
from random import Random
from typing import Any

_CHUNK = 1 << 16


class Way(StrEnum):
    """How it is. `cut`: connections are broken and refused; `silent`: they are taken, and nothing comes back."""

    OPEN = "open"
    CUT = "cut"
    SILENT = "silent"


class Balancer:
    """On a free port of loopback, between `start` and `stop`, in a thread of its own."""

    def __init__(self, ports: Sequence[int], random: Random) -> None:
        self._ports = tuple(ports)
        self._random = random
        self._way = Way.OPEN
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="balancer", daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._lost: set[asyncio.StreamWriter] = set()
        self.port = 0

    def start(self) -> None:
        self._thread.start()
        self._run(self._listen())

    def stop(self) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def set_way(self, way: Way) -> None:
        """From now on, also for connections that are open."""
        self._run(self._set(way))

    def lose_connections(self) -> None:
        """Those that are open carry nothing any more, and neither end is told, as when a firewall forgets them. New
        ones are as good as ever."""
        self._run(self._lose())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _set(self, way: Way) -> None:
        self._way = way
        if way is Way.CUT and self._server is not None:
            self._server.close()
            self._server = None
        elif self._server is None:
            await self._listen()
        for writer in [*self._open] if way is not Way.OPEN else ():
            if way is Way.CUT:
                writer.transport.abort()

    async def _lose(self) -> None:
        self._lost |= self._open

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            onward = await self._replica()
            if onward is not None:
                self._open |= {writer, onward[1]}
                await asyncio.gather(self._pump(reader, onward[1]), self._pump(onward[0], writer))
        ends = (writer,) if onward is None else (writer, onward[1])
        for end in ends:
            self._open.discard(end)
            self._lost.discard(end)
            end.close()

    async def _replica(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """One that listens, whichever is tried first."""
        for port in self._random.sample(self._ports, len(self._ports)):
            with suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", port)
        return None

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                while self._way is Way.SILENT or writer in self._lost:
                    await asyncio.sleep(0.05)
                writer.write(data)
                await writer.drain()
        with suppress(OSError):
            writer.write_eof()
