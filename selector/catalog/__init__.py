"""The static index of every upstream test, read from a tree: `build_catalog`.

Source for the file pattern: upstream's `tools/testing/discover_tests.py`, which takes `test/**/test_*.py`.
"""

from __future__ import annotations

import re

from selector.catalog.assembly import Assembly
from selector.catalog.edges import EdgeKind, FileEdge
from selector.catalog.entries import Catalog, CatalogTest, Helper, Origin, TestFile
from selector.catalog.marks import Mark
from selector.catalog.outline import FileOutline, read_outline, unreadable_outline
from selector.change.classify import is_test_file
from selector.collector import collector_paused
from selector.trees import SourceTree

__all__ = [
    "Catalog", "CatalogTest", "EdgeKind", "FileEdge", "Helper", "Mark", "Origin", "TestFile", "build_catalog",
]  # fmt: skip

_OPERATOR_FILES = re.compile(
    r"torch/testing/_internal/(common_methods_invocations|opinfo/definitions/\w+|common_modules)\.py$"
)
_OPERATOR = re.compile(r"\b\w*(?:Info|OpInfo)\(\s*[\"']([\w.]+)[\"']")
_TEST_TREE = ("test/", "functorch/test/")


def build_catalog(tree: SourceTree) -> Catalog:
    """Index all test files of `tree`. Takes seconds on PyTorch's tree. Files that cannot be read as text are kept as
    one entry without words, like files that do not parse."""
    paths = tree.paths()
    with collector_paused():
        outlines = {path: _outline(tree, path) for path in paths if is_test_file(path)}
        scripts = frozenset(path for path in paths if path.startswith(_TEST_TREE) and path.endswith(".py"))
        assembly = Assembly(outlines, scripts)
        files = {path: assembly.file(path) for path in outlines}
    return Catalog(files, _operators(tree, [path for path in paths if _OPERATOR_FILES.match(path)]))


def _outline(tree: SourceTree, path: str) -> FileOutline:
    text = tree.read(path)
    return unreadable_outline(path) if text is None else read_outline(path, text)


def _operators(tree: SourceTree, paths: list[str]) -> frozenset[str] | None:
    """Operator names as the database spells them and their last part: `linalg.solve` and `solve`."""
    if not paths:
        return None
    names = {name for path in paths for name in _OPERATOR.findall(tree.read(path) or "")}
    return frozenset(names | {name.rpartition(".")[2] for name in names})
