"""What is known of a tree's files: recalled from a cache where their content was read before, else read now.

Owns the key of a record, which is a file's content and path, and the rule that nothing is kept under the id of another
content than the one that was read. What is read of a file, and how it becomes bytes, is given by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from selector.catalog.record import RecordError
from selector.catalog.store import CatalogCache
from selector.catalog.version import PARSER
from selector.trees import IdentifiedTree, SourceFile, SourceTree, blob_id_of

Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class Reader(Generic[Known]):
    """`read` takes a path and its text, `None` for a file that is no text; `unpack` undoes `pack`, given the path, and
    raises `RecordError` for other bytes."""

    read: Callable[[str, str | None], Known]
    pack: Callable[[Known], bytes]
    unpack: Callable[[str, bytes], Known]


class KnownFiles:
    """The files of a tree. `recall` answers; `keep` gives the cache what had to be read."""

    def __init__(self, tree: SourceTree, cache: CatalogCache | None) -> None:
        self._tree = tree
        self._cache = cache if PARSER else None
        self._keys: dict[str, str] = {}
        self._records: dict[str, bytes] = {}
        self._fresh: dict[str, bytes] = {}

    def look_up(self, paths: Sequence[str]) -> None:
        """Ask the cache for all of these at once, as it is cheaper to read once."""
        if self._cache is not None:
            keys = {path: key for path in paths if path not in self._keys and (key := self._key(path))}
            self._keys.update(keys)
            self._records.update(self._cache.load(PARSER, list(keys.values())))

    def recall(self, paths: Sequence[str], reader: Reader[Known]) -> dict[str, Known]:
        """What `reader` finds in each file, by path in the order given."""
        if not self._keys.keys() >= set(paths):
            self.look_up(paths)
        known = {path: found for path in paths if (found := self._recalled(path, reader)) is not None}
        unknown = [path for path in paths if path not in known]
        for file in _read_all(self._tree, unknown):
            known[file.path] = reader.read(file.path, file.text)
            if self._cache is not None and file.text is not None and file.blob_id is not None:
                self._keys[file.path] = key = f"{file.blob_id} {file.path}"
                self._fresh[key] = reader.pack(known[file.path])
        return {path: known[path] for path in paths}

    def keep(self) -> None:
        """Hand on what was read since the cache was asked, if anything was."""
        if self._cache is not None and self._fresh:
            self._cache.keep(PARSER, self._keys.values(), self._fresh)

    def _recalled(self, path: str, reader: Reader[Known]) -> Known | None:
        record = self._records.get(self._keys.get(path, ""))
        try:
            return None if record is None else reader.unpack(path, record)
        except RecordError:
            return None

    def _key(self, path: str) -> str | None:
        blob_id = (
            self._tree.blob_id(path) if isinstance(self._tree, IdentifiedTree) else _text_id(self._tree.read(path))
        )
        return None if blob_id is None else f"{blob_id} {path}"


def _read_all(tree: SourceTree, paths: Sequence[str]) -> Iterator[SourceFile]:
    if isinstance(tree, IdentifiedTree):
        yield from tree.read_all(paths)
        return
    for path in paths:
        text = tree.read(path)
        yield SourceFile(path, _text_id(text), text)


def _text_id(text: str | None) -> str | None:
    """For a tree that knows no ids. Of the text rather than of the file, which is all that is read of it."""
    return None if text is None else blob_id_of(text.encode("utf-8", errors="surrogatepass"))
