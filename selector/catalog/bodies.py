"""Text that runs as part of a test file although it stands elsewhere: test bodies beside the harness, started files.

Upstream keeps the bodies of its distributed tests in packages of `torch/testing/_internal`, and the file under `test/`
that a runner takes is a wrapper of a few lines: it inherits the tests, generates them from lists of classes, takes them
with a star, or starts the file that holds them. Owns which files those are; how they are read is the business of
`selector.catalog.outline`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

from selector.catalog.edges import module_paths, script_paths
from selector.catalog.entries import Helper
from selector.catalog.outline import FileOutline, Outlines
from selector.change.classify import is_test_file

#: Packages below the harness. Modules directly in it are the harness itself, which every test runs on; operator
#: definitions are data, and are read as such.
_BODY = re.compile(r"torch/testing/_internal/(?!opinfo/|generated/|codegen/)[\w-]+/(?:[\w-]+/)*\w+\.py$")
#: A list of test classes may stand in a module that imports them.
_LEVELS = 2


def is_body(path: str) -> bool:
    """Whether a file outside the test tree may hold the bodies of tests."""
    return _BODY.match(path) is not None


def started_or_starred(outlines: Outlines, paths: Collection[str]) -> list[str]:
    """The files among `paths` that a file starts or takes everything from, sorted."""
    found = {path for outline in outlines.values() for path in _started_or_starred(outline, paths)}
    return sorted(found)


def borrowed_text(outline: FileOutline, outlines: Outlines) -> tuple[Helper, ...]:
    """The functions and methods of other files that run as part of this one, whether or not its classes inherit any.

    A test file that this one names runs by itself too, and is not borrowed from: files that name tests are mostly about
    running tests."""
    files = dict.fromkeys(_started_or_starred(outline, outlines))
    if outline.makes_tests:
        files.update(dict.fromkeys(_imported_bodies(outline, outlines)))
    return tuple(helper for path in files if not is_test_file(path) for helper in _parts(outlines[path]))


def _started_or_starred(outline: FileOutline, paths: Collection[str]) -> Iterator[str]:
    folder = posixpath.dirname(outline.path)
    named = [module_paths(folder, module) for module in outline.starred]
    named += [script_paths(folder, script) for script in outline.scripts]
    yield from (found for candidates in named if (found := _first(candidates, paths)))


def _imported_bodies(outline: FileOutline, outlines: Outlines) -> list[str]:
    """The bodies that a file imports, and those that these import."""
    found: dict[str, None] = {}
    frontier = [outline]
    for _ in range(_LEVELS):
        names = [name for one in frontier for name in sorted(one.imports)]
        paths = [path for name in names if (path := _first(module_paths("", name), outlines)) and is_body(path)]
        fresh = [path for path in dict.fromkeys(paths) if path not in found]
        found.update(dict.fromkeys(fresh))
        frontier = [outlines[path] for path in fresh]
    return list(found)


def _first(candidates: Iterable[str], paths: Collection[str]) -> str | None:
    return next((path for path in candidates if path in paths), None)


def _parts(outline: FileOutline) -> Iterator[Helper]:
    """Every function and method of a file; the whole of one that has none or does not parse."""
    methods = dict(outline.functions)
    for cls in (*outline.classes.values(), *outline.nested.values()):
        methods.update({f"{cls.name}.{name}": method for name, method in cls.methods.items()})
    if not methods:
        yield Helper(outline.path, "", outline.words)
    yield from (Helper(outline.path, name, method.words) for name, method in methods.items())
