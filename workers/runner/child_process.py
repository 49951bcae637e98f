"""One child of a warm parent: ordered, listened to, ended with all that belongs to it. Judges nothing.

Its end is what the warm parent says or the warm parent's own end, never an end of file: a process it left behind may
hold the pipes open for ever.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager

from workers.runner.child.control import Abort, Kill
from workers.runner.child.events import Event, Reader
from workers.runner.child.order import Order
from workers.runner.output import OutputTail
from workers.runner.warm_parent import WarmParent

_CHUNK = 1 << 18
#: A line longer than this is garbage: the texts in events are capped by the child.
_LINE_CAP = 1 << 20
_DRAIN_CAP = 4 << 20
_LAST_WORDS_S = 3.0
_POLL_S = 0.1
#: A warm parent kills a child at once, and hunts for what it left a few seconds.
_ANSWER_S = 5.0
_PING_S = 5.0


class Child:
    """A running child. Use `start_child`, which ends it in any case."""

    def __init__(self, parent: WarmParent, events: int, output: OutputTail, key: bytes) -> None:
        self._parent = parent
        self._events, self._output = events, output
        self._reader = Reader(key)
        self._open = True
        self._line = bytearray()
        self._next_ping = time.monotonic() + _PING_S

    @property
    def status(self) -> int | None:
        """The wait status in the sense of `subprocess`; None while it runs, or when nobody is left to tell."""
        return self._parent.exited.status if self._parent.exited is not None else None

    def listen(self) -> list[Event]:
        """Events that are there, or that come within a tenth of a second. Empty when none came."""
        ready = self._output.wait([self._parent.control, *([self._events] if self._open else [])], _POLL_S)
        if self._parent.control in ready:
            self._parent.hear()
        if not ready:
            self._parent.output.drain()
        return self._split(self._take()) if self._events in ready else []

    def drain(self) -> list[Event]:
        """What the pipes still hold after the child's exit."""
        events: list[Event] = []
        taken = 0
        while self._open and taken < _DRAIN_CAP and select.select([self._events], [], [], 0)[0]:
            data = self._take()
            taken += len(data)
            events += self._split(data)
        self._output.drain()
        return events

    def exited(self) -> bool:
        """Whether the child has ended, or nobody is left who could tell."""
        return self._parent.exited is not None or self._parent.lost

    def last_words(self) -> list[Event]:
        """Abort the child so that it prints its stacks, and wait a moment for it to do so."""
        self._parent.say(Abort())
        events: list[Event] = []
        deadline = time.monotonic() + _LAST_WORDS_S
        while not self.exited() and time.monotonic() < deadline:
            events += self.listen()
        return events + self.drain()

    def end(self) -> None:
        """Have the child killed with its group and its descendants. A warm parent that cannot do that is lost."""
        if not self.exited():
            self._parent.say(Kill())
            self._parent.wait_for(lambda _: self._parent.exited is not None, _ANSWER_S)
        if self._parent.exited is not None and not self._parent.exited.clean:
            self._parent.lost = True

    def vanished(self) -> bool:
        """Whether the warm parent does not answer any more. It is asked when the child's pipe has ended without a word
        of its exit, and every few seconds, because a process that was left behind may hold the pipe."""
        due = not self._open or time.monotonic() >= self._next_ping
        if not due or not self._parent.forked or self.exited():
            return False
        self._next_ping = time.monotonic() + _PING_S
        return not self._parent.answers(_ANSWER_S)

    def output_after(self, mark: str) -> str:
        """The kept end of the output, from the last occurrence of `mark` on where there is one."""
        return self._output.after(mark)

    def printed_between(self, mark: str, next_mark: str) -> str:
        """What was printed so far from one mark to the next, as far as it is kept."""
        self._output.drain()
        return self._output.between(mark, next_mark)

    def _take(self) -> bytes:
        data = os.read(self._events, _CHUNK)
        self._open = bool(data)
        return data

    def _split(self, data: bytes) -> list[Event]:
        *lines, rest = (self._line + data).split(b"\n")
        self._line = bytearray() if len(rest) > _LINE_CAP else rest
        return [event for line in lines if line and (event := self._reader.decode(bytes(line))) is not None]


@contextmanager
def start_child(parent: WarmParent, order: Order, output_bytes: int) -> Iterator[Child]:
    """A child at work on `order`; at the end of the block it is ended with everything that descends from it.

    Raises OSError when there is no descriptor or memory left for it.
    """
    events, events_in = os.pipe()
    output, output_in = os.pipe()
    tail = OutputTail(output, output_bytes)
    try:
        try:
            parent.fork(order, events_in, output_in)
        finally:
            os.close(events_in)
            os.close(output_in)
        child = Child(parent, events, tail, bytes.fromhex(order.key))
        try:
            yield child
        finally:
            child.end()
    finally:
        os.close(events)
        tail.close()
