"""Looks for what loads, but does not do what its author must have meant. Warnings only; needs a valid manifest."""

from __future__ import annotations

from collections.abc import Iterator

from selector.manifests.document import Path, Placed
from selector.manifests.findings import Finding, Severity
from selector.manifests.schema import Entry, FileBlock, Manifest, is_pattern, method_part
from selector.manifests.upstream import path_problem

FILES: Path = ("test_suite_config", "files")


def oddities(placed: Placed, manifest: Manifest) -> Iterator[Finding]:
    """Every warning about one manifest, apart from unknown keys."""
    suite = manifest.test_suite_config
    if not suite.files:
        yield _warning(placed, FILES, "`files` is empty, so this manifest says nothing")
    if suite.global_.supported_ops == ():
        path = ("test_suite_config", "global", "supported_ops")
        yield _warning(placed, path, "an empty `supported_ops` filters nothing; leave the key out")
    for index, block in enumerate(suite.files):
        yield from _in_block(placed, block, (*FILES, index))


def _in_block(placed: Placed, block: FileBlock, path: Path) -> Iterator[Finding]:
    if problem := path_problem(block.path):
        yield _warning(placed, (*path, "path"), problem)
    listed: dict[str, Path] = {}
    for index, entry in enumerate(block.tests):
        yield from _in_entry(placed, entry, (*path, "tests", index), listed)


def _in_entry(placed: Placed, entry: Entry, path: Path, listed: dict[str, Path]) -> Iterator[Finding]:
    """`listed` is grown: method -> the first entry that takes every variant of it."""
    if not entry.names:
        yield _warning(placed, (*path, "names"), "`names` is empty, so this entry matches nothing")
    for index, name in enumerate(entry.names):
        where = (*path, "names", index)
        method = method_part(name)
        if method != method.strip():
            yield _warning(placed, where, "a name with a blank at its start or end matches nothing")
        elif not is_pattern(method):
            yield from _listed_before(placed, method, where, listed)
            if not entry.edits.dtypes.include:
                listed.setdefault(method, where)


def _listed_before(placed: Placed, method: str, where: Path, listed: dict[str, Path]) -> Iterator[Finding]:
    if (first := listed.get(method)) is not None:
        line = placed.place(first).line
        message = f"`{method}` is listed in line {line} already, which decides: class names are not compared"
        yield _warning(placed, where, message)


def _warning(placed: Placed, path: Path, message: str) -> Finding:
    return placed.finding(placed.place(path), message, Severity.WARNING)
