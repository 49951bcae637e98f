"""The warm parent: `python -P -B -u -m workers.runner.child.warm SOCKET FOLDER...`. Imports torch once and forks a
child for every order that comes over the socket, one at a time.

It only imports: a process that ran a backward pass, or has a second thread, cannot be forked. It reads no test file but
to see which modules to import, judges nothing, and lives as long as its socket. The first FOLDER is where children
write; all of them are emptied after each.
"""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from workers.runner.child.confinement import close_memory, die_with_parent, keep_orphans, reset_signals, threads_of_user
from workers.runner.child.control import (
    CONTROL,
    PACKET_CAP,
    Abort,
    Exited,
    Fork,
    Forked,
    Kill,
    Message,
    Ping,
    Pong,
    Ready,
)
from workers.runner.child.descendants import end_descendants
from workers.runner.child.device import import_torch
from workers.runner.child.functions import Recorder, recorder_if_asked
from workers.runner.child.leftovers import Leftovers
from workers.runner.child.order import Order
from workers.runner.child.preload import preload
from workers.runner.child.program import live

#: How long the warm parent hunts for what a child left behind before it says that it cannot.
_HUNT_S = 3.0


def main() -> int:
    die_with_parent()
    # What a test changes in this process would be in every test file after its own.
    close_memory(closed=True)
    keep_orphans()
    reset_signals()
    control = socket.socket(fileno=int(sys.argv[1]))
    folders = [Path(word) for word in sys.argv[2:]]
    # Modules that read the command line while they are imported must not read this one.
    sys.argv = ["pytest"]
    threads_of_user()
    # What is imported here stays for good; to look through it for garbage takes a quarter of the time of the imports.
    gc.disable()
    parent = WarmParent(control, folders, recorder_if_asked())
    parent.say(Ready(import_torch()))
    parent.serve()
    return 0


class WarmParent:
    """One socket, at most one child."""

    def __init__(self, control: socket.socket, folders: list[Path], recorder: Recorder | None) -> None:
        self._control, self._folders, self._recorder = control, folders, recorder
        self._leftovers: Leftovers | None = None
        self._child: int | None = None
        self._child_end = -1

    def say(self, message: Message) -> None:
        # Nobody is left to hear it: `serve` sees the end of the socket.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(CONTROL.encode(message))

    def serve(self) -> None:
        """Carry out what the worker says until it hangs up; then nothing of ours is left."""
        while True:
            waiting = [self._control.fileno()] + ([self._child_end] if self._child is not None else [])
            ready, _, _ = select.select(waiting, [], [])
            if self._child_end in ready:
                self._bury()
            elif not self._obey():
                self._kill()
                return

    def _obey(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, PACKET_CAP, 3)
        match CONTROL.decode(data) if data else None:
            case Fork():
                self._fork(*descriptors)
            case Abort():
                self._abort()
                # A stopped process has to go on to die.
                self._signal(signal.SIGCONT)
            case Kill():
                self._kill()
            case Ping():
                self.say(Pong())
            case _:
                pass
        return bool(data)

    def _fork(self, order_file: int, events: int, output: int) -> None:
        order = Order.load(order_file)
        if self._recorder is None:
            # With a recorder each child imports for itself, or what runs then would count for all files after it.
            preload(Path(order.path))
        if self._leftovers is None:
            self._leftovers = Leftovers(self._folders)
        folder = Path(tempfile.mkdtemp(prefix="child-", dir=self._folders[0]))
        gc.freeze()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            self._control.close()
            live(order, (events, output), folder, parent, self._recorder)
        os.close(events)
        os.close(output)
        self._child, self._child_end = child, os.pidfd_open(child)
        self.say(Forked())

    def _bury(self) -> None:
        """The child has died: end its group, reap it, end the rest, tell."""
        if self._child is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._child, signal.SIGKILL)
        _, status = os.waitpid(self._child, 0)
        os.close(self._child_end)
        self._child, self._child_end = None, -1
        clean = end_descendants(_HUNT_S) and self._leftovers is not None and self._leftovers.remove()
        self.say(Exited(os.waitstatus_to_exitcode(status), clean))

    def _kill(self) -> None:
        if self._child is not None:
            self._signal(signal.SIGKILL)
            self._bury()

    def _abort(self) -> None:
        """To the thread that runs the test, where the C library has a way: else any thread may take it, and the test
        runs on meanwhile."""
        one_thread = getattr(ctypes.CDLL(None), "tgkill", None)
        if self._child is None or one_thread is None:
            self._signal(signal.SIGABRT)
        else:
            one_thread(self._child, self._child, int(signal.SIGABRT))

    def _signal(self, number: signal.Signals) -> None:
        if self._child is not None:
            os.kill(self._child, number)


if __name__ == "__main__":
    sys.exit(main())
