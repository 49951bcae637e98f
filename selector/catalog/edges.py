"""Which test files lean on which others: subclasses, re-collected tests, imports, and files started as processes.

Owns the resolving of module and script names to paths of the tree. A name that leads to no file is no edge.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from selector.catalog.outline import FileOutline


class EdgeKind(StrEnum):
    """`subclass`: a class of the file inherits from one of the other; `rerun`: tests of the other are collected here
    once more; `import`: names are taken from it; `spawn`: it is named in a file that starts processes."""

    SUBCLASS = "subclass"
    RERUN = "rerun"
    IMPORT = "import"
    SPAWN = "spawn"


@dataclass(frozen=True, slots=True, order=True)
class FileEdge:
    """The file at `path` is needed by the one that has the edge. `evidence` is what it says, as written."""

    kind: EdgeKind
    path: str
    evidence: str


def text_edges(outline: FileOutline, paths: Collection[str]) -> Iterator[FileEdge]:
    """The edges that imports and strings of one file make, to test-tree files among `paths`."""
    folder = posixpath.dirname(outline.path)
    for module in outline.starred:
        yield from _edges(EdgeKind.RERUN, outline, module_paths(folder, module), paths, f"from {module} import *")
    for name in outline.imports:
        yield from _edges(EdgeKind.IMPORT, outline, module_paths(folder, name), paths, f"import {name}")
    for script in outline.scripts:
        yield from _edges(EdgeKind.SPAWN, outline, script_paths(folder, script), paths, script)


def strongest(edges: Iterable[FileEdge]) -> tuple[FileEdge, ...]:
    """The edges sorted, one for each kind and path; an import says nothing beside a stronger edge to the same file."""
    first: dict[tuple[EdgeKind, str], FileEdge] = {}
    for edge in sorted(edges):
        first.setdefault((edge.kind, edge.path), edge)
    strong = {path for kind, path in first if kind in (EdgeKind.SUBCLASS, EdgeKind.RERUN)}
    return tuple(edge for edge in first.values() if edge.kind is not EdgeKind.IMPORT or edge.path not in strong)


def _edges(
    kind: EdgeKind, outline: FileOutline, candidates: Iterable[str], paths: Collection[str], evidence: str
) -> Iterator[FileEdge]:
    found = next((path for path in candidates if path in paths), None)
    if found is not None and found != outline.path:
        yield FileEdge(kind, found, evidence)


@lru_cache(maxsize=1 << 16)
def module_paths(folder: str, module: str) -> tuple[str, ...]:
    """Where a module named in a test file of `folder` may stand: beside it, under `test/`, or from the root."""
    return script_paths(folder, module.replace(".", "/") + ".py")


def script_paths(folder: str, script: str) -> tuple[str, ...]:
    """Where a file named in a test file of `folder` may stand, nearest first."""
    beside = f"{folder}/{script}" if folder else script
    return tuple(dict.fromkeys((beside, f"test/{script}", script)))
