"""The rules for changes of the test tree itself: edited tests, and the files that tests lean on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from selector.catalog import Catalog, CatalogTest
from selector.catalog.bodies import is_body
from selector.change import Category, FileChange, Status
from selector.change.classify import is_test_file
from selector.ownership.links import Link, link
from selector.ownership.modules import imports_directly

#: `TestScript.test_if.expect`, `TestTorch.test_print-cuda.expect`: the golden text of one test.
_GOLDEN = re.compile(r"(?P<cls>\w+)\.(?P<name>test\w*?)(-[\w-]+)?\.expect$")


def edited_tests(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests whose text changed, and all tests of a file whose module-level code changed, that is new, moved, or does
    not parse. A test is its method with the helpers and fixtures around it, wherever they stand."""
    if is_body(file.path):
        yield from _edited_bodies(file, catalog)
        return
    if file.category is not Category.TEST or not is_test_file(file.path) or file.path not in catalog.files:
        return
    whole = _why_whole_file(file, catalog)
    if whole:
        own = catalog.files[file.path].tests
        yield from (link(test, "edited test", f"{file.path}: {whole}", 1.0, must_run=True) for test in own)
        return
    for test in catalog:
        symbol = next((symbol for symbol in file.symbols if _contains(test, file.path, symbol)), None)
        if symbol is not None:
            yield link(test, "edited test", f"{file.path}: {symbol} changed", 1.0, must_run=True)


def _edited_bodies(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests whose body stands in a changed file beside the harness: those that inherit the changed method, and all of a
    file that generates its tests from it."""
    for test_file in catalog.files.values():
        parts = [part.symbol for part in test_file.borrowed if part.file == file.path]
        generated = next((symbol for symbol in file.symbols if _is_of_any(symbol, parts)), None)
        for test in test_file.tests:
            symbol = generated or next((one for one in file.symbols if _contains(test, file.path, one)), None)
            if symbol is not None:
                yield link(test, "edited test", f"{file.path}: {symbol} changed", 1.0, must_run=True)


def _is_of_any(symbol: str, parts: Iterable[str]) -> bool:
    """Whether a changed symbol is one of some, or within one."""
    return any(part and f"{symbol}.".startswith(f"{part}.") for part in parts)


def _why_whole_file(file: FileChange, catalog: Catalog) -> str:
    if file.status is Status.ADDED:
        return "new test file"
    if file.status is Status.RENAMED:
        return f"moved from {file.old_path}"
    if file.doubt is not None or not catalog.files[file.path].parsed:
        return file.doubt or "the file does not parse"
    if file.module_level:
        return "module-level code changed"
    tests = [test for test in catalog if file.path in (test.test.file, test.origin.file)]
    for symbol in file.symbols:
        removed = symbol.rpartition(".")[2].lower().startswith("test")
        if not removed and not any(_contains(test, file.path, symbol) for test in tests):
            return f"{symbol} changed, which no test is seen to use"
    return ""


def _contains(test: CatalogTest, path: str, symbol: str) -> bool:
    """Whether a changed symbol of a test file is part of a test: its method, its class, or a helper it reaches."""
    written = test.origin.file == path
    classes = {test.origin.symbol.partition(".")[0]} if written else set()
    if test.test.file == path:
        classes.add(test.test.cls)
    parts = [helper.symbol for helper in test.helpers if helper.file == path]
    parts += [test.origin.symbol] if written else []
    return symbol in classes or _is_of_any(symbol, parts)


def supporting_files(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests that lean on a changed file of the test tree which is no test file: golden text, a shared module, data.

    A golden file names its test. A module has importers. Anything else belongs to the tests of its folder and below.
    """
    if file.category is not Category.TEST or (is_test_file(file.path) and file.status is not Status.DELETED):
        return
    if is_test_file(file.path):  # deleted: only those that import it can notice
        yield from _importers(file, catalog)
        return
    golden = _GOLDEN.search(PurePosixPath(file.path).name)
    if golden:
        yield from _golden_links(file, golden["cls"], golden["name"], catalog)
        return
    importers = list(_importers(file, catalog)) if file.path.endswith(".py") else []
    yield from importers or _neighbours(file, catalog)


def _golden_links(file: FileChange, cls: str, name: str, catalog: Catalog) -> Iterator[Link]:
    for test in catalog:
        if test.test.cls == cls and (name == test.test.name or name.startswith(f"{test.test.name}_")):
            yield link(test, "edited test", f"{file.path} is its expected output", 1.0, must_run=True)


def _importers(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    for path in file.paths:
        for test_file in catalog.files.values():
            name = imports_directly(test_file, path)
            if name:
                evidence = f"{test_file.path} imports {name}"
                yield from (link(test, "test support", evidence, 0.75) for test in test_file.tests)


def _neighbours(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    folder = PurePosixPath(file.path).parent
    while len(folder.parts) > 1 and not _tests_below(folder, catalog):
        folder = folder.parent
    for test in _tests_below(folder, catalog):
        yield link(test, "test support", f"{file.path} is test data beside it", 0.65)


def _tests_below(folder: PurePosixPath, catalog: Catalog) -> list[CatalogTest]:
    return [test for path, file in catalog.files.items() if path.startswith(f"{folder}/") for test in file.tests]
