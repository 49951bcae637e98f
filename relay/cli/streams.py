"""What stdout and stderr of the process are like, before a command writes: open, able to take any character, and with
an end that can be told when nothing more can be written.

Standard library and `relay.failures` only: this is imported by every start of the command.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, TextIO, cast

from relay.cli import output_text
from relay.failures import Failure


class NoOutput(Failure):
    """What a command found out cannot be written: no room left, or there is nowhere to write to."""

    code = "no_output"


class ReaderGone(Exception):  # noqa: N818 - named after what happened
    """Whoever read the output needs no more of it, as `head` does."""


class UnusableFile(Failure):
    """A file or a folder that a command was to read or to write cannot be."""

    code = "unusable_file"


def unusable_file(error: OSError) -> UnusableFile:
    """What to say of an error about a file that no command tells in its own words."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    return UnusableFile(
        output_text.unusable_file(name, error.strerror or type(error).__name__), output_text.unusable_file_hint()
    )


def guard_streams() -> None:
    """Put guards around stdout and stderr. What was closed at the start is opened as a place that takes and has
    nothing, so that no file or socket of ours ever gets its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - open for as long as the process
    sys.stdout = cast(TextIO, Guarded(_as_it_is(sys.stdout)))
    sys.stderr = cast(TextIO, Quiet(_as_it_is(sys.stderr)))


def flush_at_the_end() -> None:
    """Write what is still to be written. Raises `NoOutput` and `ReaderGone`."""
    sys.stdout.flush()


def write_no_more() -> None:
    """Let the end of the process write nothing: it would fail again, and say so in its own words."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def _as_it_is(stream: TextIO | None) -> TextIO | None:
    """The stream, made to take every character: one that its encoding has none for is replaced, not a reason to end."""
    if stream is not None and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    return stream


class Guarded:
    """A text stream whose failures to write are ours to tell. None stands for one that was closed at the start."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, words: str) -> int:
        with _told():
            return self._open.write(words)

    def flush(self) -> None:
        if self._stream is not None:
            with _told():
                self._stream.flush()

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    @property
    def encoding(self) -> str:
        return "utf-8" if self._stream is None else self._stream.encoding

    @property
    def buffer(self) -> IO[bytes]:
        return cast(IO[bytes], GuardedBytes(self._open.buffer))

    @property
    def _open(self) -> TextIO:
        if self._stream is None:
            raise NoOutput(output_text.stdout_closed(), output_text.stdout_closed_hint())
        return self._stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._open, name)


class GuardedBytes:
    """The bytes below such a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, piece: bytes) -> int:
        with _told():
            return self._stream.write(piece)

    def flush(self) -> None:
        with _told():
            self._stream.flush()


class Quiet(Guarded):
    """A stream for what is said beside the data: where that cannot be written, the data still counts."""

    def write(self, words: str) -> int:
        try:
            return super().write(words)
        except (NoOutput, ReaderGone):
            return len(words)

    def flush(self) -> None:
        try:
            super().flush()
        except (NoOutput, ReaderGone):
            return


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise ReaderGone from error
        raise NoOutput(
            output_text.cannot_write(error.strerror or str(error)), output_text.cannot_write_hint()
        ) from error
