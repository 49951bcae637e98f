"""What was read of test files, kept in one file that several processes share.

Owns the file: its format, its bound, and that nothing about it is ever an error. A file that is damaged, unreadable,
of another parser or not ours is one note and an empty cache; the next catalog writes it anew. It is replaced as a whole
and never changed in place, so that a reader sees an old state or a new one. Knows nothing of what the records say.

Measured on PyTorch's 561 test files of April 2023 (2 MB of records), against an SQLite database with a row per record:
reading 4 ms against 14 ms, writing everything 1 ms against 60 ms. The whole file is cheaper to replace than the rows
are to find, and its order is the order in which records go when it is full.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

#: Bytes of the file; one tree of PyTorch takes 3 MB, and trees of neighbouring commits share nearly all of it.
DEFAULT_LIMIT = 64 * 1024 * 1024
#: Seconds that a writer waits for another one; writing takes milliseconds, so whoever takes longer is stopped or gone.
DEFAULT_PATIENCE_S = 10.0

_MAGIC = b"test catalog 1\n"
_RETRY_S = 0.005
#: After the magic: the length of the table of contents, and its checksum.
_HEAD = struct.Struct(">II")


class CatalogCache(Protocol):
    """Keeps records by key for one version of the parser. No method raises: a cache that fails is an empty one."""

    def load(self, parser: str, wanted: Collection[str]) -> Mapping[str, bytes]:
        """The kept records among `wanted`, as they were given."""

    def keep(self, parser: str, used: Iterable[str], fresh: Mapping[str, bytes]) -> None:
        """Keep `fresh` records beside those kept already; `used` are the keys that were wanted last, which go last."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """One record in the file's bytes."""

    content: memoryview
    checksum: int

    @property
    def is_whole(self) -> bool:
        return zlib.crc32(self.content) == self.checksum


class _DamagedError(Exception):
    """The bytes are no file of ours; the message says what is wrong with them."""


class CatalogFile:
    """The cache in the file at `path`, which holds at most `limit` bytes. `say` is given a sentence about everything
    that made it start afresh or not write; other writers are waited for, at most `patience_s` seconds."""

    def __init__(
        self,
        path: Path,
        say: Callable[[str], None],
        limit: int = DEFAULT_LIMIT,
        patience_s: float = DEFAULT_PATIENCE_S,
    ) -> None:
        self._path = path
        self._say = say
        self._limit = limit
        self._patience_s = patience_s

    def load(self, parser: str, wanted: Collection[str]) -> Mapping[str, bytes]:
        kept = self._read(parser, self._say)
        found = {key: kept[key] for key in wanted if key in kept}
        whole = {key: bytes(record.content) for key, record in found.items() if record.is_whole}
        if len(whole) < len(found):
            self._say(f"{len(found) - len(whole)} records of the catalog {self._path} are damaged; reading them anew")
        return whole

    def keep(self, parser: str, used: Iterable[str], fresh: Mapping[str, bytes]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._replacement() as replacement:
                # read again under the lock, or what another process wrote meanwhile would be lost
                kept = self._read(parser, lambda note: None)
                fresh_ones = {key: _Kept(memoryview(record), zlib.crc32(record)) for key, record in fresh.items()}
                known = {**kept, **fresh_ones}
                ordered = dict.fromkeys(key for key in (*used, *fresh, *kept) if key in known)
                replacement.write(_written(parser, {key: known[key] for key in ordered}, self._limit))
        except BlockingIOError:
            self._say(f"the catalog {self._path} was not kept: another process has been writing it all the time")
        except OSError as error:
            self._say(f"the catalog {self._path} cannot be kept: {error.strerror or error}")

    def _replacement(self) -> _Replacement:
        """The lock on the next state. Raises `BlockingIOError` when others had it until the patience was over."""
        end = time.monotonic() + self._patience_s
        while True:
            try:
                return _Replacement(self._path)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise
                time.sleep(_RETRY_S)

    def _read(self, parser: str, say: Callable[[str], None]) -> dict[str, _Kept]:
        """The records of the file in its order; none, and a note, for a file that is not usable."""
        try:
            written_by, kept = _contents(memoryview(self._content()))
        except FileNotFoundError:
            return {}
        except OSError as error:
            say(f"the catalog {self._path} cannot be read: {error.strerror or error}; reading all tests anew")
            return {}
        except _DamagedError as damage:
            say(f"the catalog {self._path} is damaged ({damage}); reading all tests anew")
            return {}
        if written_by != parser:
            say(f"the catalog {self._path} is of another version of the selector; reading all tests anew")
            return {}
        return kept

    def _content(self) -> bytes:
        with self._path.open("rb") as stream:
            content = stream.read(self._limit + 1)
        if len(content) > self._limit:
            raise _DamagedError(f"it has more than {self._limit} bytes")
        return content


class _Replacement:
    """The next state of a file, under a name beside it that is locked until it takes the file's place. A process that
    dies leaves one such name, which the next writer uses. Raises `BlockingIOError` when another process writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._beside = path.with_name(path.name + ".new")
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._handle = os.open(self._beside, flags, 0o600)
        try:
            self._lock()
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> _Replacement:
        return self

    def _lock(self) -> None:
        fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not self._is_still_beside():
            raise BlockingIOError("another process has just written")

    def __exit__(self, *_: object) -> None:
        self._close()

    def write(self, chunks: Iterable[bytes | memoryview]) -> None:
        """Write all of the file and put it in place. Not synced to the disk: after a crash it may be damaged, which
        is found out."""
        os.ftruncate(self._handle, 0)
        with os.fdopen(os.dup(self._handle), "wb") as stream:
            stream.writelines(chunks)
        os.replace(self._beside, self._path)

    def _is_still_beside(self) -> bool:
        """Whether the file we locked was not put in place between our opening and our locking it."""
        try:
            return os.path.samestat(os.fstat(self._handle), os.stat(self._beside, follow_symlinks=False))
        except FileNotFoundError:
            return False

    def _close(self) -> None:
        os.close(self._handle)


def _written(parser: str, kept: Mapping[str, _Kept], limit: int) -> list[bytes | memoryview]:
    """A file with the records in order, as many as fit; one that does not leaves room for smaller ones."""
    table: list[tuple[str, int, int]] = []
    chunks: list[bytes | memoryview] = []
    room = limit - len(_MAGIC) - _HEAD.size - len(json.dumps({"parser": parser, "records": []}))
    for key, record in kept.items():
        row = (key, len(record.content), record.checksum)
        needed = len(record.content) + len(json.dumps(row)) + len(", ")
        if needed <= room:
            room -= needed
            table.append(row)
            chunks.append(record.content)
    contents = json.dumps({"parser": parser, "records": table}).encode("ascii")
    return [_MAGIC, _HEAD.pack(len(contents), zlib.crc32(contents)), contents, *chunks]


def _contents(content: memoryview) -> tuple[str, dict[str, _Kept]]:
    """The parser that wrote the bytes, and the records in them. Raises `_DamagedError`."""
    start = len(_MAGIC) + _HEAD.size
    if bytes(content[: len(_MAGIC)]) != _MAGIC or len(content) < start:
        raise _DamagedError("it is not a catalog")
    length, checksum = _HEAD.unpack(content[len(_MAGIC) : start])
    table = bytes(content[start : start + length])
    if zlib.crc32(table) != checksum:
        raise _DamagedError("its table of contents is not what was written")
    try:
        return _records(json.loads(table), content[start + length :])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _DamagedError("its table of contents cannot be read") from error


def _records(table: Mapping[str, object], content: memoryview) -> tuple[str, dict[str, _Kept]]:
    rows = table["records"]
    if not isinstance(rows, list):
        raise TypeError("records are no list")
    kept: dict[str, _Kept] = {}
    at = 0
    for key, length, checksum in rows:
        kept[key] = _Kept(content[at : at + length], checksum)
        at += length
    return str(table["parser"]), kept
