"""The rules for changes of PyTorch's Python source: who mentions, imports, is named after, or owns what changed.

Only a direct mention makes a test must-run. All other rules propose; stage 3 decides. The scores are set so that a
strong rule stands alone in stage 3 and a weak one needs a second or the words of the change (`triage.lexical`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from selector.catalog import Catalog, CatalogTest, TestFile
from selector.change import Category, FileChange, Reached, Status
from selector.change.classify import is_test_file
from selector.ownership.areas import area_names, path_names
from selector.ownership.links import Link, link, too_common
from selector.ownership.modules import imports_directly, imports_package
from selector.source import last_part

#: A module that more test files import than this, and than a tenth of all, is a hub.
_HUB_FILES = 20
_HUB_SHARE = 10


def mentions(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests whose text, or whose helpers' text, says a changed name or the name of a caller of it.

    Must-run, except for names that are said everywhere (`forward`, `Tensor`) and for new files, whose names no old
    test can mean.
    """
    if not file.reached or is_test_file(file.path):
        return
    names = {reached.name: reached for reached in file.reached}
    said_in = [it for path, it in catalog.files.items() if not names.keys().isdisjoint(catalog.says[path])]
    hits = [hit for test_file in said_in for test in test_file.tests if (hit := _first_mention(test, names))]
    counts: dict[str, int] = {}
    for _, reached, _ in hits:
        counts[reached.name] = counts.get(reached.name, 0) + 1
    for test, reached, helper in hits:
        evidence = f"{_said(reached, helper)} of {file.path}"
        if too_common(counts[reached.name], catalog):
            yield link(test, "common name", f"{evidence}, as {counts[reached.name]} tests do", 0.25)
        elif file.status is Status.ADDED:
            yield link(test, "mention of a new name", evidence, 0.3)
        else:
            yield link(test, "mention", evidence, 1.0, must_run=True)


def _first_mention(test: CatalogTest, names: dict[str, Reached]) -> tuple[CatalogTest, Reached, str] | None:
    """The mentioned name that is nearest to the change, and the helper that says it, empty for the test itself."""
    said = names.keys() & test.words
    helper = ""
    if not said:
        for candidate in test.helpers:
            said = names.keys() & candidate.words
            if said:
                helper = candidate.symbol
                break
    if not said:
        return None
    nearest = min(said, key=lambda name: (names[name].through.count(" <- "), name))
    return test, names[nearest], helper


def _said(reached: Reached, helper: str) -> str:
    through = f" ({reached.through})" if reached.through != reached.name else ""
    by = f" through {helper}" if helper else ""
    return f"mentions {reached.name}{through}{by}"


def named_alike(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """`torch/foo/bar.py` and `test/test_bar.py`, `test/test_foo.py`, `test/foo/test_*.py`, underscores aside."""
    if file.category is not Category.PYTHON_SOURCE:
        return
    for path in file.paths:
        names = [name.rstrip("s") for name in path_names(path)]
        for test_file in catalog.files.values() if names else ():
            score = _likeness(names, test_file.path)
            if score:
                evidence = f"{test_file.path} is named after {path}"
                yield from (link(test, "path", evidence, score) for test in test_file.tests)


def _likeness(names: list[str], test_path: str) -> float:
    """How far the path of a test file repeats the names of a source path: 0, or the score of the best match."""
    parts = PurePosixPath(test_path).with_suffix("").parts
    stem = parts[-1].removeprefix("test_").strip("_").rstrip("s")
    folders = [part.strip("_").rstrip("s") for part in parts[1:-1]]
    if stem == names[-1]:
        return 0.75
    if stem in names:
        return 0.35
    return 0.3 if folders and folders[0] == names[0] else 0.0


def importing(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests of files that import the changed module, names from it, or a package around it. `import torch` is no
    edge. Strong when the test itself says the module's name, weak for a module that everybody imports; a package that
    everybody imports says nothing."""
    if file.category not in (Category.PYTHON_SOURCE, Category.TEST) or not file.path.endswith(".py"):
        return
    for path in file.paths:
        direct = _files_naming(catalog, path, imports_directly)
        hub = _is_hub(direct, catalog)
        for test_file, name in direct:
            if test_file.path != file.path:
                yield from _import_links(test_file, name, hub=hub)
        known = {test_file.path for test_file, _ in direct}
        around = [found for found in _files_naming(catalog, path, imports_package) if found[0].path not in known]
        if not _is_hub(around, catalog):
            for test_file, package in around:
                evidence = f"{test_file.path} imports {package}, which holds {path}"
                yield from (link(test, "import of the package", evidence, 0.15) for test in test_file.tests)


def _files_naming(
    catalog: Catalog, path: str, names: Callable[[TestFile, str], str | None]
) -> list[tuple[TestFile, str]]:
    return [(test_file, name) for test_file in catalog.files.values() if (name := names(test_file, path))]


def _is_hub(naming: Sequence[tuple[TestFile, str]], catalog: Catalog) -> bool:
    return len(naming) > max(_HUB_FILES, len(catalog.files) // _HUB_SHARE)


def _import_links(test_file: TestFile, name: str, *, hub: bool) -> Iterator[Link]:
    evidence = f"{test_file.path} imports {name}" + (", as many test files do" if hub else "")
    for test in test_file.tests:
        score = 0.15 if hub else 0.7 if last_part(name) in test.words else 0.45
        yield link(test, "import", evidence, score)


def owned(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests of files whose owner label names a folder or module of the changed path."""
    if file.category is not Category.PYTHON_SOURCE:
        return
    names = {name for path in file.paths for name in path_names(path)}
    for test_file in catalog.files.values():
        label = next((label for label in test_file.owners if names.intersection(area_names(label))), None)
        if label is not None:
            yield from (link(test, "owner label", f"{label} and {file.path}", 0.3) for test in test_file.tests)
