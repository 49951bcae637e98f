"""An outline as bytes, and back: what a cache keeps of one test file.

Packed JSON: it is read as quickly as a pickle, and by nothing but a parser of plain values. Each word of a file is
written once and then meant by its number, which makes it small, in the cache and in memory.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from selector.catalog.marks import UNDECORATED, Decoration, Mark
from selector.catalog.outline import ClassOutline, FileOutline, Method

#: Bytes of one record unpacked; the largest outline of PyTorch has 0.5 MB. More would be no record of ours.
_UNPACKED_CAP = 256 * 1024 * 1024


class RecordError(Exception):
    """The bytes are no record of this version."""


def pack_outline(outline: FileOutline) -> bytes:
    """All of an outline but its path, which is what a record is found by."""
    numbers = _Numbers()
    fields: dict[str, Any] = {
        "owners": outline.owners,
        "imports": numbers.of_set(outline.imports),
        "uses": numbers.of_set(outline.uses),
        "parsed": outline.parsed,
        "loose": numbers.of_set(outline.loose),
        "makes_tests": outline.makes_tests,
        "classes": [_packed_class(cls, numbers) for cls in outline.classes.values()],
        "nested": [[numbers(name), *_packed_class(cls, numbers)] for name, cls in outline.nested.items()],
        "functions": _packed(outline.functions, numbers),
        "imported": [numbers.of((local, *names)) for local, names in outline.imported.items()],
        "instantiated": numbers.of_set(outline.instantiated),
        "starred": numbers.of(outline.starred),
        "scripts": numbers.of(outline.scripts),
    }
    fields["words"] = list(numbers.words)
    return _squeeze(fields)


def unpack_outline(path: str, record: bytes) -> FileOutline:
    """The outline of the file at `path`. Raises `RecordError` for bytes that `pack_outline` did not write."""
    fields = _expand(record)
    try:
        word = fields["words"].__getitem__
        return FileOutline(
            path=path,
            owners=tuple(fields["owners"]),
            imports=frozenset(map(word, fields["imports"])),
            uses=frozenset(map(word, fields["uses"])),
            parsed=fields["parsed"],
            loose=frozenset(map(word, fields["loose"])),
            makes_tests=fields["makes_tests"],
            classes={word(name): _class(word, name, *rest) for name, *rest in fields["classes"]},
            nested={word(name): _class(word, *rest) for name, *rest in fields["nested"]},
            functions=_unpacked(fields["functions"], word),
            imported={word(local): (word(module), word(name)) for local, module, name in fields["imported"]},
            instantiated=frozenset(map(word, fields["instantiated"])),
            starred=tuple(map(word, fields["starred"])),
            scripts=tuple(map(word, fields["scripts"])),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"not an outline: {type(error).__name__}") from error


def pack_names(names: Iterable[str]) -> bytes:
    """The record of a file of which only some names are needed."""
    return _squeeze({"names": sorted(names)})


def unpack_names(record: bytes) -> frozenset[str]:
    """Raises `RecordError` for bytes that `pack_names` did not write."""
    names = _expand(record).get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RecordError("not a list of names")
    return frozenset(names)


class _Numbers:
    """Gives each word of a file its number, from 0 in order of first use."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def __call__(self, word: str) -> int:
        return self.words.setdefault(word, len(self.words))

    def of(self, words: Iterable[str]) -> list[int]:
        return [self(word) for word in words]

    def of_set(self, words: Collection[str]) -> list[int]:
        """Sorted, so that the same outline is the same bytes in every process."""
        return self.of(sorted(words))


def _packed(methods: dict[str, Method], numbers: _Numbers) -> list[Any]:
    found: list[Any] = []
    for name, method in methods.items():
        packed: list[Any] = [numbers(name), numbers.of_set(method.words)]
        if method.decoration.marks:
            packed.append(numbers.of_set(method.decoration.names))
            packed += ([numbers(mark.name), numbers.of(mark.names), mark.strings] for mark in method.decoration.marks)
        found.append(packed)
    return found


def _packed_class(cls: ClassOutline, numbers: _Numbers) -> list[Any]:
    return [numbers(cls.name), numbers.of(cls.bases), numbers.of_set(cls.loose), _packed(cls.methods, numbers)]


def _unpacked(methods: Sequence[Any], word: Any) -> dict[str, Method]:
    return {
        word(name): Method(frozenset(map(word, words)), _decoration(decoration, word) if decoration else UNDECORATED)
        for name, words, *decoration in methods
    }


def _decoration(packed: Sequence[Any], word: Any) -> Decoration:
    names, *marks = packed
    found = (Mark(word(name), tuple(map(word, said)), tuple(strings)) for name, said, strings in marks)
    return Decoration(frozenset(map(word, names)), tuple(found))


def _class(word: Any, name: int, bases: Sequence[int], loose: Sequence[int], methods: Sequence[Any]) -> ClassOutline:
    return ClassOutline(word(name), tuple(map(word, bases)), frozenset(map(word, loose)), _unpacked(methods, word))


def _squeeze(fields: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(fields, separators=(",", ":")).encode("ascii"), level=1)


def _expand(record: bytes) -> dict[str, Any]:
    unpacking = zlib.decompressobj()
    try:
        fields = json.loads(unpacking.decompress(record, _UNPACKED_CAP))
    except (zlib.error, ValueError, RecursionError) as error:
        raise RecordError("not readable") from error
    if not isinstance(fields, dict):
        raise RecordError("not an object")
    return fields
