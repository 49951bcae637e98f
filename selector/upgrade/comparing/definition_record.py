"""The definitions of a file as bytes, and back: what a cache keeps of one file for comparing releases.

Packed JSON in which each word is written once, as an outline of the catalog is. Bytes that are no such record raise
`RecordError`, and the file is read anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from typing import Any

from selector.catalog.record import RecordError
from selector.upgrade.comparing.definitions import Definition, FileDefinitions, Kind

_UNPACKED_CAP = 256 * 1024 * 1024
_KINDS = tuple(Kind)
#: Modules whose text decides what a record says.
_DECIDING = ("definitions.py", "definition_record.py", "digests.py")


def pack_definitions(file: FileDefinitions) -> bytes:
    """All of a file but its path, by which a record is found."""
    numbers: dict[str, int] = {}

    def number(word: str) -> int:
        return numbers.setdefault(word, len(numbers))

    def numbered(names: Iterable[str]) -> list[int]:
        return [number(name) for name in names]

    fields: dict[str, Any] = {
        "parsed": file.parsed,
        "definitions": [
            [
                *(number(one.symbol), _KINDS.index(one.kind), one.line, one.end_line, one.body, one.decoration),
                *(numbered(names) for names in (one.uses, one.marks, one.bases, one.attributes)),
            ]
            for one in file.definitions.values()
        ],
        "imported": [numbered(names) for names in file.imported.items()],
        "starred": file.starred,
        "loose": file.loose,
    }
    fields["words"] = list(numbers)
    return zlib.compress(json.dumps(fields, separators=(",", ":")).encode("ascii"), level=1)


def unpack_definitions(path: str, record: bytes) -> FileDefinitions:
    """The definitions of the file at `path`. Raises `RecordError` for bytes that `pack_definitions` did not write."""
    try:
        fields = json.loads(zlib.decompressobj().decompress(record, _UNPACKED_CAP))
        word = fields["words"].__getitem__
        definitions = (_definition(word, row) for row in fields["definitions"])
        return FileDefinitions(
            path,
            bool(fields["parsed"]),
            {one.symbol: one for one in definitions},
            {word(local): word(dotted) for local, dotted in fields["imported"]},
            tuple(fields["starred"]),
            str(fields["loose"]),
        )
    except (zlib.error, KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise RecordError(f"not a record of definitions: {type(error).__name__}") from error


def _definition(word: Callable[[int], str], row: Sequence[Any]) -> Definition:
    symbol, kind, line, end_line, body, decoration, *names = row
    uses, marks, bases, attributes = (tuple(map(word, numbers)) for numbers in names)
    return Definition(word(symbol), _KINDS[kind], line, end_line, body, decoration, uses, marks, bases, attributes)


def _version() -> str:
    """A digest of what decides what a record says; empty, and nothing is kept, where the sources cannot be read."""
    digest = hashlib.sha256(sys.version.encode())
    try:
        for name in _DECIDING:
            digest.update(resources.files("selector.upgrade.comparing").joinpath(name).read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16]


VERSION = _version()
