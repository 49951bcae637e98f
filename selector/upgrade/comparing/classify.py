"""What became of every test between two trees of upstream: `compare_tests`.

The order of the parts: the files are taken apart, the tests of both trees are matched, and each pair is compared, its
own text first. Nothing here is guessed by a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from selector.catalog import Catalog, CatalogCache, build_catalog
from selector.catalog.library import is_library
from selector.collector import collector_paused
from selector.trees import SourceTree
from selector.types import BaseTest
from selector.upgrade.comparing.definitions import FileDefinitions
from selector.upgrade.comparing.following import FollowedTree
from selector.upgrade.comparing.matching import Match, Matches, match_tests
from selector.upgrade.comparing.native import NativeChanges, native_changes
from selector.upgrade.comparing.reading import DefinitionReader
from selector.upgrade.comparing.surroundings import Surroundings
from selector.upgrade.comparing.written import Release, WrittenTest, read_release
from selector.upgrade.types import ChangedTest, Evidence, TestChange, TestDifference

_AROUND_TESTS = re.compile(r"(?:(?:functorch/)?test/|torch/testing/).*\.py$")
_NOTHING = FileDefinitions("")


def compare_tests(base: SourceTree, head: SourceTree, cache: CatalogCache | None = None) -> TestDifference:
    """Every test of both trees and what became of it.

    Two releases of PyTorch take half a minute; with a `cache` that knows their files a few seconds. The cache decides
    how long it takes and nothing else.
    """
    difference, _ = compare_and_index(FollowedTree(base), FollowedTree(head), cache)
    return difference


def compare_and_index(
    base: FollowedTree, head: FollowedTree, cache: CatalogCache | None
) -> tuple[TestDifference, tuple[Catalog, Catalog]]:
    """The same, with the catalogs of both trees, for who needs these as well."""
    with collector_paused():
        return _difference(base, head, cache)


def _difference(
    base: FollowedTree, head: FollowedTree, cache: CatalogCache | None
) -> tuple[TestDifference, tuple[Catalog, Catalog]]:
    """All that was read beside the catalogs goes when this returns, before the collector looks at what is left."""
    (before, after), catalogs, native = _read(base, head, cache)
    matches = match_tests(before, after)
    around = Surroundings(before, after, matches.pairs, native)
    tests = sorted(_compared(matches, around), key=lambda changed: changed.test)
    notes = (*_unread(before, after), *_decorated(before, after), *around.notes())
    return TestDifference(tuple(tests), _test_files(before), _test_files(after), notes), catalogs


def _read(
    base: FollowedTree, head: FollowedTree, cache: CatalogCache | None
) -> tuple[tuple[Release, Release], tuple[Catalog, Catalog], NativeChanges]:
    """Both trees and their compiled code. Definitions are read by other processes meanwhile."""
    with DefinitionReader(cache) as reader:
        reader.start((base, head), [_needed(tree.paths()) for tree in (base, head)])
        catalogs = build_catalog(base, cache), build_catalog(head, cache)
        native = native_changes(base, head, cache)
        files = reader.finish()
    releases = read_release(base, catalogs[0], files[0]), read_release(head, catalogs[1], files[1])
    return releases, catalogs, native


def _needed(paths: Sequence[str]) -> list[str]:
    """The tests, what stands around them, and the modules of the library."""
    return [path for path in paths if _AROUND_TESTS.match(path) or is_library(path)]


def _unread(*releases: Release) -> Iterator[str]:
    """Files of tests that could only be compared as a whole."""
    paths = {test.file for release in releases for test in release.tests if not release.files[test.file].parsed}
    yield from (f"{path} does not parse, so its tests are compared as one" for path in sorted(paths))


def _decorated(base: Release, head: Release) -> Iterator[str]:
    """Classes of tests with other decorators, which are told once for all that is in them."""
    classes = dict.fromkeys((test.file, test.cls) for test in head.tests if test.cls)
    for path, cls in classes:
        before, after = (release.files.get(path, _NOTHING).definitions.get(cls) for release in (base, head))
        if before is not None and after is not None and before.decoration != after.decoration:
            yield f"{path}:{after.line}: class {cls} has other decorators, which apply to all of its tests"


def _test_files(release: Release) -> int:
    return len({test.file for test in release.tests})


def _compared(matches: Matches, around: Surroundings) -> Iterator[ChangedTest]:
    for written in matches.removed:
        yield _alone(written, TestChange.REMOVED)
    for written in matches.added:
        yield _alone(written, TestChange.ADDED)
    for match in matches.pairs:
        yield _changed(match, (*_evidence(match), *around.of(match)))


def _alone(written: WrittenTest, change: TestChange) -> ChangedTest:
    removed = change is TestChange.REMOVED
    place = written.place
    evidence = Evidence(
        change, written.origin.symbol, change.value, base=place if removed else None, head=None if removed else place
    )
    return ChangedTest(written.test, (change,), (evidence,))


def _changed(match: Match, evidence: tuple[Evidence, ...]) -> ChangedTest:
    changes = tuple(change for change in TestChange if any(one.kind is change for one in evidence))
    former = match.before.test if match.before.test != match.after.test else None
    return ChangedTest(match.after.test, changes or (TestChange.UNCHANGED,), evidence, former, match.confidence)


def _evidence(match: Match) -> Iterator[Evidence]:
    before, after = match.before.test, match.after.test
    if (before.file, before.cls) != (after.file, after.cls) or _was_taken_out(match):
        yield _of(match, TestChange.MOVED, f"from {_class(before, match.before)} to {_class(after, match.after)}")
    if before.name != after.name:
        yield _of(match, TestChange.RENAMED, f"from {before.name} to {after.name}")
    if match.before.text != match.after.text:
        yield _of(match, TestChange.BODY, "the test itself does something else")
    if match.before.decoration != match.after.decoration:
        yield _of(match, TestChange.DECORATORS, "other decorators")


def _of(match: Match, kind: TestChange, text: str) -> Evidence:
    return Evidence(kind, match.after.origin.symbol, text, match.before.place, match.after.place)


def _was_taken_out(match: Match) -> bool:
    """Whether the file wrote the test itself and takes it from another now."""
    return match.before.origin.file == match.before.test.file and match.after.origin.file != match.after.test.file


def _class(test: BaseTest, written: WrittenTest) -> str:
    """The class of a test, and where it is written if that is elsewhere."""
    cls = f"{test.file}::{test.cls}" if test.cls else test.file
    return cls if written.origin.file == test.file else f"{cls} (written in {written.origin.file})"
