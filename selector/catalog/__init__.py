"""The static index of every upstream test, read from a tree: `build_catalog`.

Source for the file pattern: upstream's `tools/testing/discover_tests.py`, which takes `test/**/test_*.py`.
"""

from __future__ import annotations

import re

from selector.catalog.assembly import Assembly
from selector.catalog.bodies import is_body, started_or_starred
from selector.catalog.edges import EdgeKind, FileEdge
from selector.catalog.entries import Catalog, CatalogTest, Helper, Origin, TestFile
from selector.catalog.groups import PathGroup, read_groups
from selector.catalog.known_files import KnownFiles, Reader
from selector.catalog.library import Library, imported_names, is_library
from selector.catalog.marks import Mark
from selector.catalog.outline import FileOutline, read_outline, unreadable_outline
from selector.catalog.record import pack_names, pack_outline, unpack_names, unpack_outline
from selector.catalog.store import CatalogCache, CatalogFile
from selector.change.classify import is_test_file
from selector.collector import collector_paused
from selector.trees import SourceTree

__all__ = [
    "Catalog",
    "CatalogCache",
    "CatalogFile",
    "CatalogTest",
    "EdgeKind",
    "FileEdge",
    "Helper",
    "Library",
    "Mark",
    "Origin",
    "PathGroup",
    "TestFile",
    "build_catalog",
]

_OPERATOR_FILES = re.compile(
    r"torch/testing/_internal/(common_methods_invocations|opinfo/definitions/\w+|common_modules)\.py$"
)
_OPERATOR = re.compile(r"\b\w*(?:Info|OpInfo)\(\s*[\"']([\w.]+)[\"']")
_TEST_TREE = ("test/", "functorch/test/")


def build_catalog(tree: SourceTree, cache: CatalogCache | None = None) -> Catalog:
    """Index all test files of `tree`. Files that cannot be read as text are kept as one entry without words, like files
    that do not parse.

    Takes seconds on PyTorch's tree, and tenths of a second with a `cache` that has most of it. The cache decides how
    long it takes and nothing else.
    """
    paths = tree.paths()
    tests = [path for path in paths if is_test_file(path)]
    bodies = [path for path in paths if is_body(path)]
    databases = [path for path in paths if _OPERATOR_FILES.match(path)]
    modules = [path for path in paths if is_library(path)]
    in_test_tree = frozenset(filter(_is_in_test_tree, paths))
    with collector_paused():
        known = KnownFiles(tree, cache)
        known.look_up([*tests, *bodies, *databases, *modules])
        outlines = known.recall([*tests, *bodies], _OUTLINES)
        outlines.update(known.recall(started_or_starred(outlines, in_test_tree - outlines.keys()), _OUTLINES))
        operators = known.recall(databases, _OPERATORS)
        library = Library(known.recall(modules, _IMPORTS))
        known.keep()
        assembly = Assembly(outlines, in_test_tree)
        files = {path: assembly.file(path) for path in tests}
    named = frozenset().union(*operators.values()) if databases else None
    return Catalog(files, named, read_groups(tree), library)


def _outline(path: str, text: str | None) -> FileOutline:
    return unreadable_outline(path) if text is None else read_outline(path, text)


def _operators(_: str, text: str | None) -> frozenset[str]:
    """Operator names as a database spells them and their last part: `linalg.solve` and `solve`."""
    names = frozenset(_OPERATOR.findall(text or ""))
    return names | {name.rpartition(".")[2] for name in names}


def _is_in_test_tree(path: str) -> bool:
    return path.startswith(_TEST_TREE) and path.endswith(".py")


_OUTLINES = Reader(_outline, pack_outline, unpack_outline)
_OPERATORS = Reader(_operators, pack_names, lambda _, record: unpack_names(record))
_IMPORTS = Reader(imported_names, pack_names, lambda _, record: unpack_names(record))
