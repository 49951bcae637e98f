"""Edits of manifests that follow an upgrade: names that upstream removed, renamed or moved.

Only what the two trees settle is written: a name whose tests all went the same way, by a match that is no guess. The
rest is told beside it. Modes are never changed here; a test that is another one now is for a person to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import yaml
from yaml import CSafeLoader

from selector.manifests import ManifestDocument, ManifestError, load_manifests
from selector.manifests.authoring.splicing import Manuscript, SpliceError
from selector.manifests.schema import class_part, is_pattern, method_part
from selector.manifests.upstream import UPSTREAM_ROOT, upstream_file
from selector.types import BaseTest
from selector.upgrade.assessing.governing import CERTAIN
from selector.upgrade.types import TestChange, UpgradeReport


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a test: the one it is now, None when it is gone, and whether that is certain."""

    now: BaseTest | None
    is_certain: bool


Fates = Mapping[tuple[str, str], Mapping[str, Fate]]


def propose_names(
    report: UpgradeReport, documents: Sequence[ManifestDocument]
) -> tuple[list[ManifestDocument], list[str]]:
    """The manifests with the names that the newer tree has, and what is left to a person.

    Raises ManifestError when a manifest does not load.
    """
    fates, alive = _fates(report), _alive(report)
    edited = [_Editing(document, fates, alive) for document in documents]
    after = [ManifestDocument(editing.document.name, editing.text()) for editing in edited]
    return after, [note for editing in edited for note in editing.notes]


def _fates(report: UpgradeReport) -> Fates:
    """By file and method of the older tree, what became of it in each class."""
    found: dict[tuple[str, str], dict[str, Fate]] = {}
    for changed in report.difference.tests:
        if changed.change is not TestChange.ADDED:
            old = changed.former or changed.test
            now = None if changed.change is TestChange.REMOVED else changed.test
            found.setdefault((old.file, old.name), {})[old.cls] = Fate(now, changed.confidence >= CERTAIN)
    return found


def _alive(report: UpgradeReport) -> Mapping[str, frozenset[str]]:
    """The test methods of each file of the newer tree."""
    found: dict[str, set[str]] = {}
    for changed in report.difference.tests:
        if changed.change is not TestChange.REMOVED:
            found.setdefault(changed.test.file, set()).add(changed.test.name)
    return {file: frozenset(names) for file, names in found.items()}


@dataclass
class _Editing:
    """The work on one manifest. `notes` are for people."""

    document: ManifestDocument
    fates: Fates
    alive: Mapping[str, frozenset[str]]
    notes: list[str] = field(default_factory=list, init=False)

    def text(self) -> str:
        """The text with what can be edited; the same where nothing can."""
        load_manifests([self.document])
        text = self.document.text
        blocks = _blocks(text)
        for file, block in blocks.items():
            text = self._block(text, file, block, blocks)
        for file, block in _blocks(text).items():
            self.notes += self._for_a_person(file, block)
        return text

    def _for_a_person(self, file: str, block: Mapping[str, object]) -> Iterator[str]:
        """What no longer means a test and takes more than another name to mend."""
        before = {method for listed, method in self.fates if listed == file}
        after = self.alive.get(file, frozenset())
        if before and not after:
            yield f"{self.document.name}: upstream has no test in {file} any more; is its block still needed?"
            return
        for pattern in (method_part(name) for entry in _entries(block) for name in _names(entry)):
            if is_pattern(pattern) and _matches(pattern, before) and not _matches(pattern, after):
                yield f"{self.document.name}: the pattern {pattern} matches no test of {file} any more"

    def _block(
        self, text: str, file: str, block: Mapping[str, object], blocks: Mapping[str, Mapping[str, object]]
    ) -> str:
        """The text with one file block edited, as it was where that cannot be done or does not load."""
        listed = {name for entry in _entries(block) for name in _names(entry)}
        settled = {name: now for name in sorted(listed) if (now := self._settled(file, name)) is not None}
        if not settled:
            return text
        manuscript = Manuscript(self.document.name, text)
        try:
            _edit(manuscript, file, block, settled, blocks)
            edited = manuscript.text()
            load_manifests([ManifestDocument(self.document.name, edited)])
        except (SpliceError, ManifestError) as error:
            self.notes.append(f"{self.document.name}: the block about {file} is left as it is: {error}")
            return text
        return edited

    def _settled(self, file: str, name: str) -> tuple[BaseTest, ...] | None:
        """What a listed name is to mean now, none when its tests are gone; None when the name stays."""
        method, cls = method_part(name), class_part(name)
        if is_pattern(method):
            return None
        classes = self.fates.get((file, method), {})
        meant = [classes[cls]] if cls in classes else list(classes.values())
        now = tuple(fate.now for fate in meant if fate.now is not None)
        if not meant or any(_still_means(name, file, test) for test in now):
            return None
        moves = {(test.file, test.name) for test in now}
        if not all(fate.is_certain for fate in meant) or len(moves) > 1 or (now and len(now) < len(meant)):
            became = ", ".join(sorted(map(str, now))) or "gone"
            self.notes.append(f"{self.document.name}: {name} of {file} is left to a person; it may be {became} now")
            return None
        return now


def _blocks(text: str) -> Mapping[str, Mapping[str, object]]:
    """The blocks about upstream files, of several about one the first."""
    found: dict[str, Mapping[str, object]] = {}
    for block in yaml.load(text, Loader=CSafeLoader)["test_suite_config"]["files"]:
        if (file := upstream_file(block["path"])) is not None:
            found.setdefault(file, block)
    return found


def _matches(pattern: str, methods: Iterable[str]) -> bool:
    return any(re.fullmatch(pattern, method) for method in methods)


def _still_means(name: str, file: str, test: BaseTest) -> bool:
    """Whether a listed name stands for a test as it is now."""
    return test.file == file and test.name == method_part(name) and class_part(name) in {"", test.cls}


def _edit(
    manuscript: Manuscript,
    file: str,
    block: Mapping[str, object],
    settled: Mapping[str, tuple[BaseTest, ...]],
    blocks: Mapping[str, Mapping[str, object]],
) -> None:
    """Put the new names into a block; what stands in another file now goes to the block about that. When all of it
    does, the block itself becomes one about the other file."""
    entries = list(_entries(block))
    kept = {name for entry in entries for name in _names(entry)} - settled.keys()
    files = {test.file for tests in settled.values() for test in tests}
    home = file
    if not kept and len(files) == 1 and file not in files and blocks.keys().isdisjoint(files):
        (home,) = files
        manuscript.set_path(file, f"{UPSTREAM_ROOT}/{home}")
    leaving: dict[str, dict[int, list[str]]] = {}
    for number, entry in enumerate(entries):
        wanted: dict[str, tuple[str, ...]] = {}
        for name in (name for name in _names(entry) if name in settled):
            new = _spelt(name, settled[name])
            here = all(test.file == home for test in settled[name])
            wanted[name] = tuple(other for other in new if other not in kept) if here else ()
            kept.update(new if here else ())
            if new and not here:
                leaving.setdefault(settled[name][0].file, {}).setdefault(number, []).extend(new)
        if wanted and not manuscript.put_names(file, number, wanted):
            manuscript.drop_entry(file, number)
    for other, numbers in leaving.items():
        moved = [{**entries[number], "names": names} for number, names in numbers.items()]
        if other in blocks:
            manuscript.add_entries(other, moved)
        else:
            manuscript.add_block(_block_about(other, block, moved))


def _block_about(
    file: str, like: Mapping[str, object], entries: Sequence[Mapping[str, object]]
) -> Mapping[str, object]:
    others = {key: value for key, value in like.items() if key not in {"path", "tests"}}
    return {"path": f"{UPSTREAM_ROOT}/{file}", **others, "tests": list(entries)}


def _spelt(name: str, tests: Sequence[BaseTest]) -> tuple[str, ...]:
    """The tests as a name is written: with their classes if it was."""
    with_class = bool(class_part(name))
    return tuple(dict.fromkeys(f"{test.cls}::{test.name}" if with_class and test.cls else test.name for test in tests))


def _entries(block: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    tests = block.get("tests")
    return tests if isinstance(tests, list) else []


def _names(entry: Mapping[str, object]) -> list[str]:
    names = entry.get("names")
    return [names] if isinstance(names, str) else list(names) if isinstance(names, list) else []
