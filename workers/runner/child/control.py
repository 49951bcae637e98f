"""What the worker and the warm parent say to each other: one JSON object a packet, on a socket of their own.

Tests run as the warm parent's user and may get hold of it, so the worker takes its word with the same suspicion as that
of a child, and ends it when it does not answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from workers.runner.child.wire import Language

PACKET_CAP = 1 << 16


@dataclass(frozen=True, slots=True)
class Ready:
    """torch has been imported, or `problem` says why it cannot be."""

    problem: str


@dataclass(frozen=True, slots=True)
class Fork:
    """Have a child. Three descriptors come along: its order, its event pipe, its output pipe."""


@dataclass(frozen=True, slots=True)
class Forked:
    """The child lives; from now on the warm parent answers at once."""


@dataclass(frozen=True, slots=True)
class Abort:
    """Make the child print its stacks and die."""


@dataclass(frozen=True, slots=True)
class Kill:
    """End the child and everything that descends from it."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Answer if you can."""


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to `Ping`."""


@dataclass(frozen=True, slots=True)
class Exited:
    """The child is gone; `status` in the sense of `subprocess` (negative: a signal). Unless `clean`, some of what it
    left behind would not die, or would not be removed."""

    status: int
    clean: bool


Message = Ready | Fork | Forked | Abort | Kill | Ping | Pong | Exited
CONTROL: Language[Message] = Language(Ready, Fork, Forked, Abort, Kill, Ping, Pong, Exited)
