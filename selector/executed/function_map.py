"""What tests executed, as values and as the bytes of a file: packed JSON behind a checksum.

Names come from processes that run untrusted code; those that the recorded tree does not define are dropped.
"""

from __future__ import annotations

import ast
import hashlib
import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selector.known import FunctionId
from selector.source import parse_module
from selector.trees import SourceTree, tree_id_of

#: By test file, then by base test (`file::Class::method`; empty for the file's collection): `path:qualified.name`.
Recording = Mapping[str, Mapping[str, Collection[str]]]

_MAGIC = b"function map 1\n"
_UNPACKED_CAP = 1 << 30
_MODULE = "<module>"


class MapError(Exception):
    """The file is no function map of this version, or is damaged."""


@dataclass(frozen=True, slots=True)
class FunctionMap:
    """An `ExecutedFunctions`. `tree` is the git id of the recorded tree, empty when it has none; `executed` holds, by
    test file and then by base test, names that are keys of `defined`: paths with the names defined there."""

    tree: str
    defined: Mapping[str, Collection[str]]
    executed: Recording

    def recorded_files(self) -> Collection[str]:
        return self.executed.keys()

    def executing(self, functions: Collection[FunctionId]) -> Mapping[FunctionId, Collection[str]]:
        asked = {f"{one.path}:{one.name}": one for one in functions if one.name in self.defined.get(one.path, ())}
        answer: dict[FunctionId, list[str]] = {one: [] for one in asked.values()}
        for file, tests in sorted(self.executed.items()):
            for test, names in sorted(tests.items()):
                for name in sorted(asked.keys() & set(names)):
                    answer[asked[name]].append(test or file)
        return answer

    def updated(self, newer: FunctionMap) -> FunctionMap:
        """With the files of a newer recording, or of another shard's, in the place of their older ones."""
        return FunctionMap(newer.tree, {**self.defined, **newer.defined}, {**self.executed, **newer.executed})


def record(tree: SourceTree, recording: Recording) -> FunctionMap:
    """A map of what was recorded on `tree`. The files that were executed are read for the names they define."""
    paths = {name.partition(":")[0] for tests in recording.values() for names in tests.values() for name in names}
    defined = {path: sorted(_names(tree.read(path) or "")) for path in sorted(paths & set(tree.paths()))}
    real = {f"{path}:{name}" for path, names in defined.items() for name in names}
    executed = {
        file: {test: sorted(real.intersection(names)) for test, names in sorted(tests.items())}
        for file, tests in sorted(recording.items())
    }
    return FunctionMap(tree_id_of(tree) or "", defined, executed)


def _names(text: str) -> Iterator[str]:
    yield _MODULE
    module = parse_module(text)
    if module is not None:
        yield from _inside(module, "")


def _inside(node: ast.AST, prefix: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + child.name
            name = f"{prefix}{child.name}."
        yield from _inside(child, name)


def write_map(path: Path, known: FunctionMap) -> None:
    """Write the file, whole or not at all. The same map gives the same bytes. Raises OSError."""
    names = sorted(f"{file}:{name}" for file, inner in known.defined.items() for name in inner)
    numbers = {name: number for number, name in enumerate(names)}
    sets: dict[tuple[int, ...], int] = {}
    tests = {
        file: {test: sets.setdefault(_steps(numbers[name] for name in executed), len(sets)) for test, executed in inner}
        for file, inner in ((file, sorted(inner.items())) for file, inner in sorted(known.executed.items()))
    }
    fields = {"tree": known.tree, "names": names, "sets": list(sets), "tests": tests}
    packed = zlib.compress(json.dumps(fields, separators=(",", ":")).encode(), 9)
    begun = path.with_name(f"{path.name}.begun")
    begun.write_bytes(_MAGIC + hashlib.sha256(packed).digest() + packed)
    begun.replace(path)


def _steps(numbers: Iterator[int]) -> tuple[int, ...]:
    """Sorted numbers as distances, which pack better."""
    ordered = sorted(numbers)
    return tuple(number - before for before, number in zip([0, *ordered], ordered, strict=False))


def open_map(path: Path) -> FunctionMap:
    """The map in a file. Raises `MapError` for a file that is none, and OSError."""
    return read_map(path.read_bytes())


def read_map(content: bytes) -> FunctionMap:
    """The map in a file's bytes. Raises `MapError`."""
    digest, packed = content[len(_MAGIC) : len(_MAGIC) + 32], content[len(_MAGIC) + 32 :]
    if not content.startswith(_MAGIC):
        raise MapError("this is no function map of this version; record it anew")
    if hashlib.sha256(packed).digest() != digest:
        raise MapError("the function map is damaged; record it anew")
    try:
        return _map_of(json.loads(zlib.decompressobj().decompress(packed, _UNPACKED_CAP)))
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError) as error:
        raise MapError(f"the function map cannot be read ({error}); record it anew") from error


def _map_of(fields: Any) -> FunctionMap:
    names: list[str] = fields["names"]
    sets = [_named(steps, names) for steps in fields["sets"]]
    executed = {file: {test: sets[number] for test, number in tests.items()} for file, tests in fields["tests"].items()}
    defined: dict[str, set[str]] = {}
    for name in names:
        path, _, inner = name.partition(":")
        defined.setdefault(path, set()).add(inner)
    return FunctionMap(fields["tree"], defined, executed)


def _named(steps: list[int], names: list[str]) -> frozenset[str]:
    found, number = set(), 0
    for step in steps:
        number += step
        found.add(names[number])
    return frozenset(found)
