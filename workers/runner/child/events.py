"""What a child tells the worker about its tests: sealed lines on a pipe of its own.

The pipe is open in a process that runs untrusted test code. A line counts only with the seal of the child's key over
its number and text, and only once: what a test writes into the pipe, or reads from it and writes again, says nothing.
Code that takes the key out of the process's memory can still lie: a verdict of untrusted code is a claim.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from workers.runner.child.wire import Language


@dataclass(frozen=True, slots=True)
class Found:
    """A collected test, named as `selector.types.CollectedTest` names it; `parameters` are pairs of name and text."""

    id: str
    cls: str
    base: str
    method: str
    op: str | None
    dtype: str | None
    parameters: list[list[str]]


@dataclass(frozen=True, slots=True)
class Refused:
    """The file, or a part of it, could not be collected."""

    reason: str


@dataclass(frozen=True, slots=True)
class Began:
    """A test is about to run."""

    id: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A test ran to its end; `observation` is `passed`, `failed` or `skipped`. `operators` are those the device saw."""

    id: str
    observation: str
    duration_s: float
    detail: str
    operators: list[str]


@dataclass(frozen=True, slots=True)
class Executed:
    """Functions that a test executed, or the file's collection when `id` is empty; a part of them, more may follow.
    `names` are new to the reader, who numbers them on from 0; `numbers` are those that were executed."""

    id: str
    names: list[str]
    numbers: list[int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a program's answer, in base64 that is whole by itself; more may follow."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Everything that was ordered has been done; the child is of no more use."""


#: Exit status of a child whose event pipe was closed or replaced under it.
CHANNEL_LOST = 86
#: Exit status of a child that makes way for another, after a test that left too many processes.
CROWDED = 87

Event = Found | Refused | Began | Ended | Executed | Piece | Finished
_LANGUAGE: Language[Event] = Language(Found, Refused, Began, Ended, Executed, Piece, Finished)
_SEAL_BYTES = 8
_DIGITS = 18


def mark(test: str) -> str:
    """The line a child writes into its output before a test, so that its last words can be told from earlier ones."""
    return f"{mark_of_file(test)}\n"


def mark_of_file(file: str) -> str:
    """How the mark of any test of a file begins."""
    return f"\n=== {file}"


def encode(event: Event, number: int, key: bytes) -> bytes:
    """One line. It starts with a line feed as well, so that half a line left by a test does not swallow it."""
    body = b"%d %s" % (number, _LANGUAGE.encode(event))
    return b"\n%s %s\n" % (_seal(body, key), body)


class Reader:
    """Takes lines apart. Each number counts once, and no lower one after it."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._last = -1

    def decode(self, line: bytes) -> Event | None:
        """The event on a line, or None."""
        seal, _, body = line.partition(b" ")
        if not hmac.compare_digest(seal, _seal(body, self._key)):
            return None
        number, _, text = body.partition(b" ")
        # Whoever has the key seals what he likes; `int` takes more than digits, and thousands of them not at all.
        if not number.isdigit() or len(number) > _DIGITS or int(number) <= self._last:
            return None
        self._last = int(number)
        return _LANGUAGE.decode(text)


def _seal(body: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_SEAL_BYTES, key=key).hexdigest().encode()
