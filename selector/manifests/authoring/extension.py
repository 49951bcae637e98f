"""Extends a manifest that exists by what results show, and changes no more of it than that takes.

It only tightens: what fails is expected to, what crashes is not run, what works and was never listed is required. A
test that works although it is expected to fail is `promotion.py`'s matter, which asks for more than one run. What the
manifest keeps from running by its `global` section or by labels stays as it is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import yaml
from yaml import CSafeLoader

from selector.manifests.authoring.generation import Bench, Generated, block, by_base, by_file, entries_for, file_problem
from selector.manifests.authoring.plain import write_plain
from selector.manifests.authoring.results import ObservedTest
from selector.manifests.authoring.splicing import Manuscript
from selector.manifests.authoring.treatment import NewEntry, Seen, SeenTest, seen_tests
from selector.manifests.document import ManifestDocument
from selector.manifests.load import ManifestSet, load_manifests
from selector.manifests.profiles import Profile
from selector.manifests.resolution import Resolution, resolve
from selector.manifests.schema import is_pattern, method_part
from selector.manifests.upstream import upstream_file
from selector.types import Mode

#: What else an entry may say that a replacement of it can take over.
_TAKEN_OVER = frozenset({"names", "mode", "tags", "labels", "reason", "issue"})
_DECIDED_ELSEWHERE = frozenset(
    {"dtype_unsupported", "op_not_supported", "op_dtype_narrowed", "label_mismatch", "op_excluded", "dtype_excluded"}
)


def extend(document: ManifestDocument, observed: Iterable[ObservedTest], *, device: str, issue: str = "") -> Generated:
    """The manifest with what it lacks. Raises ManifestError when it does not load, SpliceError when it can not be
    changed in place.
    """
    manifests = load_manifests([document])
    extending = _Extending(document, manifests, device, issue)
    for file, variants in by_file(seen_tests(observed)):
        extending.file(file, variants)
    return extending.finished()


def needs_no_change(one: SeenTest, row: Resolution) -> bool:
    """Whether a manifest may say this of a test."""
    if one.seen is Seen.SILENT or (row.mode is Mode.SKIP and row.rule in _DECIDED_ELSEWHERE):
        return True
    if one.seen is Seen.WORKS:
        return row.mode is Mode.MANDATORY_SUCCESS or row.rule != "unlisted"
    if one.seen is Seen.FAILS:
        return row.mode is not Mode.MANDATORY_SUCCESS
    return row.mode is Mode.SKIP


@dataclass
class _Extending:
    """The work on one manifest. `entries` are counted, `notes` are for people."""

    document: ManifestDocument
    manifests: ManifestSet
    device: str
    issue: str

    def __post_init__(self) -> None:
        self.manuscript = Manuscript(self.document.name, self.document.text)
        self.notes: list[str] = []
        self.entries = 0
        suite = yaml.load(self.document.text, Loader=CSafeLoader)["test_suite_config"]
        shared = {key: value for key, value in suite.items() if key == "global"}
        self.suite = textwrap.indent(write_plain(shared), "  ") if shared else ""
        self.blocks: dict[str | None, Mapping[str, object]] = {}
        for written in suite["files"]:
            self.blocks.setdefault(upstream_file(written["path"]), written)

    def file(self, file: str, variants: Sequence[SeenTest]) -> None:
        if problem := file_problem(file):
            self.notes.append(problem)
        elif (written := self.blocks.get(file)) is None:
            wanted = entries_for(variants, Bench(self.device, {}, self.suite), self.issue)
            self.notes += wanted.notes
            self.entries += len(wanted.entries)
            self.manuscript.add_block(block(file, wanted.entries))
        else:
            self._listed(file, written, variants)

    def _listed(self, file: str, written: Mapping[str, object], variants: Sequence[SeenTest]) -> None:
        rows = resolve(self.manifests, [one.test for one in variants], profile=Profile.COMPAT, device=self.device).by_id
        added: list[NewEntry] = []
        emptied: dict[int, set[str]] = {}
        for base, found in by_base(variants):
            if all(needs_no_change(one, rows[one.test.id]) for one in found):
                continue
            if (taken := self._replaceable(file, base, written)) is None:
                continue
            wanted = entries_for(found, Bench(self.device, _without(written, base), self.suite), self.issue)
            self.notes += wanted.notes
            added += [_with_words(entry, taken) for entry in wanted.entries]
            for number, _ in taken:
                emptied.setdefault(number, set()).add(base)
        self._write(file, added, emptied)

    def _write(self, file: str, added: Sequence[NewEntry], emptied: Mapping[int, set[str]]) -> None:
        for number, methods in emptied.items():
            if not self.manuscript.drop_names(file, number, methods):
                self.manuscript.drop_entry(file, number)
        if added:
            self.entries += len(added)
            self.manuscript.add_entries(file, [entry.data() for entry in added])

    def _replaceable(
        self, file: str, base: str, written: Mapping[str, object]
    ) -> list[tuple[int, Mapping[str, object]]] | None:
        """The entries that name a base test, when new ones can stand in for them; None when only a person can tell."""
        naming = [(number, entry) for number, entry in _entries(written) if base in _methods(entry)]
        if any(set(entry) - _TAKEN_OVER for _, entry in naming) or len(naming) > 1:
            number = naming[0][0]
            self.notes.append(
                f"{file}: {base} does not do what entry {number + 1} of the file expects; it has edits or keys that "
                "can not be kept by a new entry, so change it by hand"
            )
            return None
        return naming

    def finished(self) -> Generated:
        text = self.manuscript.text()
        before = {(one.line, one.message) for one in self.manifests.findings}
        after = load_manifests([ManifestDocument(self.document.name, text)]).findings
        if len(after) > len(before):
            self.notes += [f"new: {finding}" for finding in after if (finding.line, finding.message) not in before]
        return Generated(text, self.entries, tuple(self.notes))


def _entries(written: Mapping[str, object]) -> list[tuple[int, Mapping[str, object]]]:
    tests = written.get("tests")
    listed = tests if isinstance(tests, list) else []
    return [(number, entry) for number, entry in enumerate(listed) if isinstance(entry, Mapping)]


def _names(entry: Mapping[str, object]) -> list[str]:
    names = entry.get("names")
    return [names] if isinstance(names, str) else list(names) if isinstance(names, list) else []


def _methods(entry: Mapping[str, object]) -> set[str]:
    return {method_part(name) for name in _names(entry)}


def _without(written: Mapping[str, object], base: str) -> dict[str, object]:
    """The block in which no entry names a base test; patterns stay."""
    kept = []
    for _, entry in _entries(written):
        left = [name for name in _names(entry) if method_part(name) != base]
        # Only what fits the base test has a say in the trial.
        if any(is_pattern(method_part(name)) for name in left):
            kept.append({**entry, "names": left})
    return {**written, "tests": kept}


def _with_words(entry: NewEntry, taken: Sequence[tuple[int, Mapping[str, object]]]) -> NewEntry:
    """A new entry with the tags and labels of the one it stands in for."""
    if not taken:
        return entry
    old = taken[0][1]
    return replace(entry, tags=_texts(old.get("tags")), labels=_texts(old.get("labels")))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
