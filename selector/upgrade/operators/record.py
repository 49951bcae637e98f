"""A table of operators as bytes, and back: what a cache keeps of a tree's databases.

Packed JSON of plain values. Bytes that are no such record raise `RecordError`, and the databases are read anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from selector.catalog.record import RecordError
from selector.upgrade.operators.table import Argument, Decorator, Definition, OperatorEntry, OperatorTable
from selector.upgrade.types import Place

_UNPACKED_CAP = 256 * 1024 * 1024
#: Packages whose text decides what a record says: digests are those of the comparison of tests.
_DECIDING = ("selector.upgrade.operators", "selector.upgrade.operators.evaluation", "selector.upgrade.comparing")


def pack_operators(table: OperatorTable) -> bytes:
    """All of a table."""
    fields = {
        "entries": [_packed_entry(entry) for entry in table.entries.values()],
        "lists": table.lists,
        "definitions": [
            [one.name, one.digest, one.place.path, one.place.line, one.place.end_line, one.uses]
            for one in table.definitions.values()
        ],
        "notes": table.notes,
    }
    return zlib.compress(json.dumps(fields, separators=(",", ":")).encode("ascii"), level=1)


def unpack_operators(record: bytes) -> OperatorTable:
    """Undo `pack_operators`. Raises `RecordError` for other bytes."""
    try:
        fields = json.loads(zlib.decompressobj().decompress(record, _UNPACKED_CAP))
        entries = [_entry(row) for row in fields["entries"]]
        definitions = (
            Definition(name, digest, Place(path, line, end), tuple(uses))
            for name, digest, path, line, end, uses in fields["definitions"]
        )
        return OperatorTable(
            {entry.name: entry for entry in entries},
            {name: tuple(names) for name, names in fields["lists"].items()},
            {one.name: one for one in definitions},
            tuple(fields["notes"]),
        )
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError) as error:
        raise RecordError("these bytes are no table of operators of this version") from error


def _packed_entry(entry: OperatorEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "kind": entry.kind,
        "place": [entry.place.path, entry.place.line, entry.place.end_line],
        "dtypes": None if entry.dtypes is None else sorted(entry.dtypes),
        "backward": None if entry.backward_dtypes is None else sorted(entry.backward_dtypes),
        "decorators": [[one.digest, one.text, one.test, one.devices] for one in entry.decorators],
        "samples": {name: [one.digest, one.names] for name, one in entry.samples.items()},
        "others": {name: [one.digest, one.names] for name, one in entry.others.items()},
    }


def _entry(row: Mapping[str, Any]) -> OperatorEntry:
    return OperatorEntry(
        row["name"],
        row["kind"],
        Place(*row["place"]),
        None if row["dtypes"] is None else frozenset(row["dtypes"]),
        None if row["backward"] is None else frozenset(row["backward"]),
        tuple(Decorator(digest, text, test, tuple(devices)) for digest, text, test, devices in row["decorators"]),
        _arguments(row["samples"]),
        _arguments(row["others"]),
    )


def _arguments(said: Mapping[str, Any]) -> dict[str, Argument]:
    return {name: Argument(digest, tuple(names)) for name, (digest, names) in said.items()}


def _version() -> str:
    """A digest of the sources that decide what a record says, and of the Python that parses; empty when the sources are
    not there to be read, as in an installation of compiled files alone."""
    digest = hashlib.sha256(f"{sys.implementation.cache_tag} {sys.version}".encode())
    try:
        folders = [resources.files(package) for package in _DECIDING]
        files = [file for folder in folders for file in folder.iterdir()]
        for file in sorted((file for file in files if file.name.endswith(".py")), key=lambda file: file.name):
            digest.update(f"\0{file.name}\0".encode() + file.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()


VERSION = _version()
