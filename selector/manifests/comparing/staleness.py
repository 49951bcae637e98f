"""Which names of manifests no longer mean a test of an upstream tree, what became of them, and which tests are new.

Compares names with the text of the tree; nothing is imported or collected. What the text cannot settle is said to be
uncertain, never left out. Writes nothing: an edit is a sentence for a person. The index of the tree is in
`upstream_names.py`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from selector.manifests.check import check
from selector.manifests.comparing.upstream_names import UpstreamNames
from selector.manifests.document import ManifestDocument, Path, Placed, read_document
from selector.manifests.findings import Finding, ManifestError, Place, Severity
from selector.manifests.oddities import FILES
from selector.manifests.schema import FileBlock, is_pattern, method_part
from selector.manifests.upstream import upstream_file
from selector.trees import SourceTree
from selector.types import BaseTest, Mode


class Staleness(StrEnum):
    """What is stale about a name, or about a file block."""

    REMOVED_FILE = "removed_file"
    DEAD_NAME = "dead_name"
    VARIANT_NAME = "variant_name"
    MOVED_CLASS = "moved_class"
    MOVED_FILE = "moved_file"
    NEW_TESTS = "new_tests"
    UNLISTED_TESTS = "unlisted_tests"


@dataclass(frozen=True, slots=True)
class StaleFinding:
    """One finding at a place of a manifest. `names` are the listed name, or the unlisted tests; `edit` is what to write
    instead, empty when there is nothing to write; `certain` is false when only a collection can tell.
    """

    kind: Staleness
    manifest: str
    line: int
    column: int
    file: str
    names: tuple[str, ...]
    message: str
    edit: str = ""
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.manifest}:{self.line}:{self.column}: {self.message}"


def stale(
    documents: Sequence[ManifestDocument], upstream: SourceTree, since: SourceTree | None = None
) -> tuple[StaleFinding, ...]:
    """Findings in the order of the manifests and their lines. With `since`, an earlier state of the tree, only tests
    that were not there count as unlisted, one by one; without it all unlisted tests of a file are one finding.

    Takes seconds for each of PyTorch's trees. Raises ManifestError when a manifest does not load.
    """
    blocks = tuple(_blocks(documents))
    names = UpstreamNames(upstream)
    earlier = UpstreamNames(since) if since is not None else None
    found = [finding for block in blocks for finding in _in_block(block, names)]
    found += _unlisted(blocks, names, earlier)
    return tuple(sorted(found, key=lambda finding: (finding.manifest, finding.line, finding.column, finding.kind)))


@dataclass(frozen=True, slots=True)
class _Block:
    """A file block about an upstream file, with the text positions of its manifest."""

    placed: Placed
    path: Path
    file: str
    block: FileBlock
    exact: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    def names(self) -> Iterator[tuple[str, Place]]:
        for entry_number, entry in enumerate(self.block.tests):
            for number, name in enumerate(entry.names):
                yield name, self.placed.place((*self.path, "tests", entry_number, "names", number))

    def lists(self, method: str) -> bool:
        return method in self.exact or any(pattern.fullmatch(method) for pattern in self.patterns)

    def finding(
        self, kind: Staleness, place: Place, names: Sequence[str], message: str, edit: str = "", *, certain: bool = True
    ) -> StaleFinding:
        where = (self.placed.name, place.line, place.column, self.file)
        return StaleFinding(kind, *where, tuple(names), message, edit, certain)


def _blocks(documents: Sequence[ManifestDocument]) -> Iterator[_Block]:
    problems: list[Finding] = []
    for document in sorted(documents, key=lambda document: document.name):
        placed, findings = read_document(document)
        if any(finding.severity is Severity.ERROR for finding in findings):
            problems += findings
            continue
        manifest, findings = check(placed)
        problems += (finding for finding in findings if finding.severity is Severity.ERROR)
        for index, block in enumerate(manifest.test_suite_config.files if manifest else ()):
            if file := upstream_file(block.path):
                yield _block(placed, (*FILES, index), file, block)
    if problems:
        raise ManifestError(problems)


def _block(placed: Placed, path: Path, file: str, block: FileBlock) -> _Block:
    methods = dict.fromkeys(method_part(name) for entry in block.tests for name in entry.names)
    exact = frozenset(method for method in methods if not is_pattern(method))
    patterns = tuple(re.compile(method) for method in methods if method not in exact)
    return _Block(placed, path, file, block, exact, patterns)


def _in_block(block: _Block, names: UpstreamNames) -> Iterator[StaleFinding]:
    if not names.has_file(block.file):
        yield _removed_file(block, names)
        return
    if not names.is_indexed(block.file):
        return
    for name, place in block.names():
        if finding := _judge(block, names, name, place):
            yield finding


def _removed_file(block: _Block, names: UpstreamNames) -> StaleFinding:
    listed = [method_part(name) for name, _ in block.names()]
    successors = names.files_with(method for method in listed if not is_pattern(method))
    message = f"{block.file} is not in the tree"
    edit = "delete this block"
    if successors:
        file, count = successors[0]
        message += f"; {file} has {count} of the {len(listed)} names listed here"
        edit = f"write `path: ${{TORCH_ROOT}}/{file}`"
    place = block.placed.place((*block.path, "path"))
    return block.finding(Staleness.REMOVED_FILE, place, (), message, edit)


def _judge(block: _Block, names: UpstreamNames, name: str, place: Place) -> StaleFinding | None:
    """What is stale about one name of a file that is there; None when it means a test."""
    cls, _, method = name.rpartition("::")
    if is_pattern(method):
        return (
            None
            if any(_matches(method, base) for base in names.methods(block.file))
            else _dead(block, names, name, place)
        )
    classes = names.classes(block.file, method)
    if classes:
        return None if names.is_class(cls, classes) else _moved_class(block, cls, method, sorted(classes), place)
    if names.is_inherited(method):
        return None
    if base := names.base_of(block.file, method):
        return _variant(block, cls, method, base, place)
    return _moved_file(block, names, name, place) or _dead(block, names, name, place)


def _moved_class(block: _Block, cls: str, method: str, classes: list[str], place: Place) -> StaleFinding:
    now = " and ".join(f"`{_name(found, method)}`" for found in classes)
    message = f"`{cls}` has no `{method}`; {block.file} has {now}"
    edit = f"write {now}"
    return block.finding(Staleness.MOVED_CLASS, place, [_name(cls, method)], message, edit)


def _variant(block: _Block, cls: str, method: str, base: str, place: Place) -> StaleFinding:
    base_name = _name(cls, base)
    message = f"`{method}` is a generated variant, which never matches; its base is `{base}`"
    listed = next((where.line for name, where in block.names() if _matches(method_part(name), base)), None)
    edit = f"write `{base_name}`, which takes all of its variants"
    if listed is not None:
        edit = f"delete this name: `{base}` is listed in line {listed}, with all of its variants"
    return block.finding(Staleness.VARIANT_NAME, place, [_name(cls, method)], message, edit)


def _moved_file(block: _Block, names: UpstreamNames, name: str, place: Place) -> StaleFinding | None:
    cls, _, method = name.rpartition("::")
    if not (files := names.elsewhere(cls, method)):
        return None
    message = f"{block.file} has no `{method}`; it stands in {_some(files)}"
    edit = f"move `{name}` to a block with `path: ${{TORCH_ROOT}}/{files[0]}`"
    return block.finding(Staleness.MOVED_FILE, place, [name], message, edit)


def _dead(block: _Block, names: UpstreamNames, name: str, place: Place) -> StaleFinding:
    cls, _, method = name.rpartition("::")
    message, edit = f"{block.file} has no `{method}`", "delete this name"
    if is_pattern(method):
        message = f"`{method}` matches no test of {block.file}"
    # A name that is listed as well is another test, not the new name of this one.
    elif near := _nearest(method, (name for name in names.methods(block.file) if not block.lists(name))):
        classes = names.classes(block.file, near)
        owner = cls if cls in classes else min(classes)
        message += f"; `{near}` is the nearest name"
        edit = f"delete this name, or write `{_name(owner, near)}` if it was renamed"
    certain = not names.makes_tests(block.file)
    if not certain:
        message += " in its text, but it makes tests when it is imported: collect it to be sure"
    return block.finding(Staleness.DEAD_NAME, place, [name], message, edit, certain=certain)


def _unlisted(blocks: Sequence[_Block], names: UpstreamNames, earlier: UpstreamNames | None) -> Iterator[StaleFinding]:
    """Tests that no block about their file lists, at the first of the blocks."""
    for file in dict.fromkeys(block.file for block in blocks):
        about = [block for block in blocks if block.file == file]
        old = frozenset(earlier.tests(file)) if earlier is not None else frozenset()
        missing = [test for test in names.tests(file) if test not in old and not any(b.lists(test.name) for b in about)]
        if missing:
            yield _unlisted_finding(about, missing, is_new=earlier is not None)


def _unlisted_finding(about: Sequence[_Block], missing: Sequence[BaseTest], *, is_new: bool) -> StaleFinding:
    first = about[0]
    modes = " or ".join(dict.fromkeys(str(block.block.unlisted_test_mode) for block in about))
    listed = [_name(test.cls, test.name) for test in missing]
    count = f"{len(missing)} {'new ' if is_new else ''}{'test' if len(missing) == 1 else 'tests'}"
    verb = "falls" if len(missing) == 1 else "fall"
    message = f"{count} of {first.file} {'is' if len(missing) == 1 else 'are'} not listed and {verb} under `{modes}`"
    edit = _entry(listed, first.block.unlisted_test_mode) if is_new else ""
    kind = Staleness.NEW_TESTS if is_new else Staleness.UNLISTED_TESTS
    return first.finding(kind, first.placed.place((*first.path, "path")), listed, message, edit)


def _entry(names: Sequence[str], mode: Mode) -> str:
    """A manifest entry that says in so many words what holds already."""
    lines = "".join(f"\n    - {name}" for name in names)
    return f"add\n- names:{lines}\n  mode: {mode}"


def _matches(listed: str, method: str) -> bool:
    return re.fullmatch(listed, method) is not None if is_pattern(listed) else listed == method


def _nearest(method: str, methods: Iterable[str]) -> str:
    # Compared without the prefix, which would make all short names alike.
    by_rest = {name.removeprefix("test_"): name for name in methods}
    near = difflib.get_close_matches(method.removeprefix("test_"), list(by_rest), n=1, cutoff=0.75)
    return by_rest[near[0]] if near else ""


def _some(files: Sequence[str], shown: int = 3) -> str:
    rest = len(files) - shown
    return ", ".join(files[:shown]) + (f" and {rest} more" if rest > 0 else "")


def _name(cls: str, method: str) -> str:
    return f"{cls}::{method}" if cls else method
