"""The child's end of the event pipe, held against tests that close or replace descriptors and forks that go astray."""

from __future__ import annotations

import fcntl
import os

from workers.runner.child.confinement import HIGH_DESCRIPTOR
from workers.runner.child.events import CHANNEL_LOST, Event, encode


class Channel:
    """Takes the inherited descriptor over to a high number that programs started by tests do not inherit."""

    def __init__(self, inherited: int, key: bytes) -> None:
        self._pipe = fcntl.fcntl(inherited, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
        os.close(inherited)
        self._key = key
        self._sent = 0
        self._identity = self._look()
        self._owner = os.getpid()

    def send(self, event: Event) -> None:
        """Write one event. A fork of this process ends here: it must not carry on with the tests of its parent."""
        self.require_owner()
        if self._look() != self._identity:
            os._exit(CHANNEL_LOST)
        data = encode(event, self._sent, self._key)
        self._sent += 1
        while data:
            data = data[os.write(self._pipe, data) :]

    def require_owner(self) -> None:
        """End the process when it is a fork that a test did not end."""
        if os.getpid() != self._owner:
            os._exit(1)

    def _look(self) -> tuple[int, int] | None:
        try:
            status = os.fstat(self._pipe)
        except OSError:
            return None
        return status.st_dev, status.st_ino
