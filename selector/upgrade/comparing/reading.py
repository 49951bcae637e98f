"""The definitions of all files that a comparison needs: recalled where their content was read before, else read now.

Many unread files are read by two more processes, because a whole release takes one about fifteen seconds; they get
texts and answer with records, so they need neither the tree nor the cache. A file is read once for both trees.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from types import TracebackType
from typing import Self

from selector.catalog.record import RecordError
from selector.catalog.store import CatalogCache
from selector.catalog.version import PARSER
from selector.collector import collector_paused
from selector.upgrade.comparing.definition_record import VERSION, pack_definitions, unpack_definitions
from selector.upgrade.comparing.definitions import FileDefinitions, read_definitions
from selector.upgrade.comparing.following import FollowedTree

#: Bytes of unread text from which more processes are worth their start.
MANY = 8_000_000
_PROCESSES = 2
_BATCH = 2_000_000
_Text = tuple[str, str, str]  # key, path, text


class DefinitionReader:
    """Reads the files of several trees. `start` begins, `finish` waits; in between the caller may do other things. When
    the context is left, nothing more is read."""

    def __init__(self, cache: CatalogCache | None, many: int = MANY) -> None:
        self._cache = cache if PARSER and VERSION else None
        self._many = many
        self._trees: Sequence[FollowedTree] = ()
        self._keys: list[dict[str, str]] = []
        self._known: Mapping[str, bytes] = {}
        self._unread: list[_Text] = []
        self._pool: ProcessPoolExecutor | None = None
        self._running: list[Future[list[tuple[str, bytes]]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def start(self, trees: Sequence[FollowedTree], paths: Sequence[Collection[str]]) -> None:
        """Look up `paths` of each tree, and begin to read those that are not known."""
        self._trees = trees
        self._keys = [
            {path: key for path in wanted if (key := _key(tree, path))}
            for tree, wanted in zip(trees, paths, strict=True)
        ]
        wanted_keys = {key for keys in self._keys for key in keys.values()}
        self._known = self._cache.load(PARSER, wanted_keys) if self._cache is not None else {}
        unread = {key: (tree, path) for tree, keys in zip(trees, self._keys, strict=True) for path, key in keys.items()}
        for key, (tree, path) in unread.items():
            if key not in self._known and (text := tree.read(path)) is not None:
                self._unread.append((key, path, text))
        if sum(len(text) for _, _, text in self._unread) >= self._many:
            spawn = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(_PROCESSES, spawn, initializer=leave_interrupts_to_the_parent)
            self._running = [self._pool.submit(read_batch, batch) for batch in _batches(self._unread)]

    def finish(self) -> list[RecordedFiles]:
        """The definitions of each tree by path."""
        fresh = dict(self._answers())
        if self._cache is not None and fresh:
            self._cache.keep(PARSER, [key for keys in self._keys for key in keys.values()], fresh)
        records = {**self._known, **fresh}
        return [
            RecordedFiles(tree, {path: records.get(key) for path, key in keys.items()})
            for tree, keys in zip(self._trees, self._keys, strict=True)
        ]

    def _answers(self) -> Iterator[tuple[str, bytes]]:
        if self._pool is None:
            yield from read_batch(self._unread)
            return
        for running in self._running:
            yield from running.result()


class RecordedFiles(Mapping[str, FileDefinitions]):
    """The definitions of files by path, each unpacked when it is first asked for: half of a library no test reaches. A
    record that cannot be unpacked is as good as none, and the file is read."""

    def __init__(self, tree: FollowedTree, records: Mapping[str, bytes | None]) -> None:
        self._tree = tree
        self._records = records
        self._unpacked: dict[str, FileDefinitions] = {}

    def __getitem__(self, path: str) -> FileDefinitions:
        if path not in self._unpacked:
            self._unpacked[path] = self._unpack(path, self._records[path])
        return self._unpacked[path]

    def _unpack(self, path: str, record: bytes | None) -> FileDefinitions:
        try:
            if record is not None:
                return unpack_definitions(path, record)
        except RecordError:
            pass
        return read_definitions(path, self._tree.read(path))

    def __contains__(self, path: object) -> bool:
        return path in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


def leave_interrupts_to_the_parent() -> None:
    """Ctrl-C reaches every process of a terminal; it is the parent's to say what comes of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def read_batch(batch: Sequence[_Text]) -> list[tuple[str, bytes]]:
    """The records of some texts, in their order."""
    with collector_paused():
        return [(key, pack_definitions(read_definitions(path, text))) for key, path, text in batch]


def _batches(texts: Sequence[_Text]) -> Iterator[list[_Text]]:
    """Texts in batches of about the same length, the longest first so that none is waited for at the end."""
    batch, length = list[_Text](), 0
    for text in sorted(texts, key=lambda text: len(text[2]), reverse=True):
        batch.append(text)
        length += len(text[2])
        if length >= _BATCH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _key(tree: FollowedTree, path: str) -> str | None:
    blob_id = tree.blob_id(path)
    return None if blob_id is None else f"{blob_id} {path} definitions {VERSION}"
