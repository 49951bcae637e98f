"""Makes a manifest from results: what was seen on the device becomes what is expected of it.

In a new block everything unlisted is required, so only tests that do not work are listed. Nothing is judged by eye:
each entry is written, loaded and resolved, and kept when it means what was seen. A manifest that exists is extended in
`extension.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from selector.manifests.authoring.plain import write_plain
from selector.manifests.authoring.results import ObservedTest, ResultsError
from selector.manifests.authoring.treatment import Entries, Judge, NewEntry, SeenTest, seen_tests, treat
from selector.manifests.document import ManifestDocument
from selector.manifests.findings import ManifestError
from selector.manifests.load import load_manifests
from selector.manifests.models import is_model_file
from selector.manifests.profiles import Profile
from selector.manifests.resolution import resolve
from selector.manifests.schema import MAX_NAME_CHARACTERS
from selector.manifests.upstream import UPSTREAM_ROOT, path_problem, upstream_file
from selector.types import CollectedTest, Mode


@dataclass(frozen=True, slots=True)
class Generated:
    """A manifest, how many entries are new in it, and sentences on what it can not say."""

    text: str
    entries: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The entries that one file needs, and what they can not say."""

    entries: tuple[NewEntry, ...]
    notes: tuple[str, ...]


def generate(
    observed: Iterable[ObservedTest], *, device: str, issue: str = "", labels: Sequence[str] = (), comment: str = ""
) -> Generated:
    """A new manifest with a block for each observed file. `device` is the word in generated names; `issue` is put into
    every entry with a reason, `labels` are the suite's. Raises ResultsError when no manifest comes of it.
    """
    blocks: list[dict[str, object]] = []
    notes: list[str] = []
    count = 0
    for file, variants in by_file(seen_tests(observed)):
        if problem := file_problem(file):
            notes.append(problem)
            continue
        wanted = entries_for(variants, Bench(device, {}), issue)
        count += len(wanted.entries)
        notes += wanted.notes
        blocks.append(block(file, wanted.entries))
    suite: dict[str, object] = {"labels": list(labels)} if labels else {}
    if not blocks:
        raise ResultsError("; ".join(["the results show nothing that a manifest can list", *notes[:1]]))
    text = write_plain({"test_suite_config": {**suite, "files": blocks}}, comment)
    try:
        load_manifests([ManifestDocument("generated.yaml", text)])
    except ManifestError as error:
        raise ResultsError(f"the manifest would not load, so make one for fewer files: {error}") from error
    return Generated(text, count, tuple(notes))


def by_file(variants: Iterable[SeenTest]) -> Iterator[tuple[str, list[SeenTest]]]:
    """Variants of one file after another, in the order of the files."""
    ordered = sorted(variants, key=lambda one: (one.test.file, one.test.base, one.test.id))
    for file, found in groupby(ordered, key=lambda one: one.test.file):
        yield file, list(found)


def by_base(variants: Sequence[SeenTest]) -> Iterator[tuple[str, list[SeenTest]]]:
    """Variants of one base name after another, whatever their classes: names are compared without them."""
    for base, found in groupby(variants, key=lambda one: one.test.base):
        yield base, list(found)


def path_of(file: str) -> str:
    """How a manifest names an upstream file."""
    return f"{UPSTREAM_ROOT}/{file}"


def file_problem(file: str) -> str:
    """Why a file can not be listed, empty when it can."""
    if is_model_file(file):
        return f"{file!r} is left out: what is expected of a model stands with the model, and is changed by hand"
    path = path_of(file)
    usable = upstream_file(path) == file and file.isprintable()
    problem = path_problem(path) or ("" if usable else "it is no path of the upstream tree")
    return f"{file!r} is left out: {problem}" if problem else ""


def block(file: str, entries: Sequence[NewEntry]) -> dict[str, object]:
    """A file block in which everything that is not listed is required."""
    listed = {"tests": [entry.data() for entry in entries]} if entries else {}
    return {"path": path_of(file), "unlisted_test_mode": Mode.MANDATORY_SUCCESS.value, **listed}


def entries_for(variants: Sequence[SeenTest], bench: Bench, issue: str = "") -> Wanted:
    """The entries that the tests of one file need. Tests that fail alike share an entry."""
    treated: dict[Entries, list[Entries]] = {}
    notes: list[str] = []
    for base, found in by_base(variants):
        if not all(_can_be_named(one.test) for one in found):
            notes.append(f"{found[0].test.file}: {base[:60]!r} is left out: it can not be written as a name")
            continue
        entries, exact = treat(found, bench.device, bench.judge(found))
        if not exact:
            notes.append(_imprecise(base, found, bench.judge(found)(entries)))
        nameless = tuple(replace(entry, names=(), issue=issue if entry.reason else "") for entry in entries)
        treated.setdefault(nameless, []).append(entries)
    return Wanted(tuple(_shared(treated)), tuple(notes))


def _can_be_named(test: CollectedTest) -> bool:
    """Whether class and base are what Python lets a source say; a results file can hold anything."""
    parts = [part for part in (test.cls, test.base) if part]
    return bool(test.base) and all(map(str.isidentifier, parts)) and len("::".join(parts)) <= MAX_NAME_CHARACTERS


def _shared(treated: Mapping[Entries, Sequence[Entries]]) -> Iterator[NewEntry]:
    for nameless, alike in treated.items():
        for number, entry in enumerate(nameless):
            yield replace(entry, names=tuple(sorted({name for entries in alike for name in entries[number].names})))


def _imprecise(base: str, variants: Sequence[SeenTest], modes: Mapping[str, Mode]) -> str:
    others = [one for one in variants if not one.agrees_with(modes[one.test.id])]
    where = variants[0].test.file
    if not variants[0].test.cls:
        return f"{where}: {base} is a function outside any class, which the original framework runs unasked"
    wrong = ", ".join(sorted({f"{one.seen} and is {modes[one.test.id]}" for one in others}))
    count = f"of {len(variants)} variants of {base}, {len(others)}"
    return f"{where}: {count} can not be told apart from the rest by a manifest ({wrong})"


@dataclass(frozen=True, slots=True)
class Bench:
    """Tries entries out by writing them into a manifest of their own and resolving it. They stand behind what
    `file_block` lists; `suite` is what else stands below `test_suite_config`, as text that is written once for all.
    """

    device: str
    file_block: Mapping[str, object]
    suite: str = ""

    def judge(self, variants: Sequence[SeenTest]) -> Judge:
        """For the variants of one base test."""
        return lambda entries: self._modes([one.test for one in variants], entries)

    def _modes(self, tests: Sequence[CollectedTest], entries: Entries) -> Mapping[str, Mode]:
        tested = {**block(tests[0].file, ()), **self.file_block}
        listed = tested.get("tests")
        tested["tests"] = [*(listed if isinstance(listed, list) else []), *(entry.data() for entry in entries)]
        text = write_plain({"test_suite_config": {"files": [tested]}}) + self.suite
        manifests = load_manifests([ManifestDocument("proposed.yaml", text)])
        table = resolve(manifests, tests, profile=Profile.COMPAT, device=self.device)
        return {row.id: row.mode for row in table.rows}
