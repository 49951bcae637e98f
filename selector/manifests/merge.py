"""Several manifests made one, as the framework does it when more than one is given to a run, with a report of what got
lost on the way (`oot-manifests.md` 1.11).

The rules are the framework's, its odd ones included; the report is ours. What the merged manifest means, and whether
it is valid at all, is found out by loading it, as there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

import yaml
from yaml import CSafeDumper

from selector.manifests.document import ManifestDocument, Path, Placed, read_document
from selector.manifests.findings import ManifestError, shown
from selector.manifests.model_rules import MODELS
from selector.manifests.oddities import FILES
from selector.manifests.outline import SUITE, read_outline
from selector.manifests.upstream import file_key
from selector.types import Mode

_GLOBAL: Path = (SUITE, "global")
_COMPARED = frozenset({"names", "tags", "edits"})
_SHOWN_NAMES = 3


class ConflictKind(StrEnum):
    """What two manifests can disagree about without an error."""

    UNLISTED_MODE = "unlisted-mode"
    DROPPED_ENTRY = "dropped-entry"
    SAME_FILE = "same-file"
    GLOBAL_ITEM = "global-item"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something a later manifest says that has no effect, or that changes what an earlier one said. The place is that
    of the later one."""

    kind: ConflictKind
    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged manifest. `origins` maps its provenances (`merged.yaml:7`) to those in the manifests it came from."""

    document: ManifestDocument
    conflicts: tuple[Conflict, ...]
    origins: Mapping[str, str] = field(default_factory=dict, repr=False)

    def origin(self, provenance: str) -> str:
        """Where that stood before the merge."""
        return self.origins.get(provenance, provenance)


def merge(documents: Sequence[ManifestDocument]) -> Merged:
    """Merge manifests in the order given; a single one stays as it is.

    Raises ManifestError when one is no YAML, has not the shape of a manifest, or when two differ in a global setting
    that is no list. ValueError without any manifest.
    """
    if not documents:
        raise ValueError("there is nothing to merge")
    if len(documents) == 1:
        return Merged(documents[0], ())
    merging = _Merging()
    for placed in [read_outline(document) for document in documents]:
        merging.take(placed)
    rest = len(documents) - _SHOWN_NAMES
    names = [document.name for document in documents[:_SHOWN_NAMES]] + ([f"{rest} more"] if rest > 0 else [])
    return merging.merged(" + ".join(names))


@dataclass(slots=True)
class _Origin:
    """Something in a manifest, with its place there."""

    value: dict[str, Any]
    placed: Placed
    path: Path

    @property
    def provenance(self) -> str:
        return f"{self.placed.name}:{self.placed.place(self.path).line}"


@dataclass(slots=True)
class _Block:
    """The blocks of one path string, as far as they are merged."""

    origin: _Origin
    labels: list[object]
    entries: list[_Origin] = field(default_factory=list)
    by_names: dict[frozenset[object], list[_Origin]] = field(default_factory=dict)

    def keep(self, entry: _Origin) -> None:
        self.entries.append(entry)
        self.by_names.setdefault(_name_set(entry.value["names"]), []).append(entry)

    def twin(self, entry: _Origin) -> _Origin | None:
        """A kept entry that the framework takes a later one for: the mode is not compared."""
        alike = self.by_names.get(_name_set(entry.value["names"]), ())
        return next((kept for kept in alike if _same_besides_names(kept.value, entry.value)), None)

    @property
    def path(self) -> str:
        return str(self.origin.value["path"])

    @property
    def unlisted(self) -> object:
        return self.origin.value.get("unlisted_test_mode", Mode.XFAIL.value)


class _Merging:
    """The manifest while it grows."""

    def __init__(self) -> None:
        self.blocks: dict[str, _Block] = {}
        self.globals: dict[str, Any] = {}
        self.models: list[_Origin] = []
        self.origins: dict[Path, _Origin] = {}
        self.conflicts: list[Conflict] = []
        self._top: dict[str, Any] = {}
        self._files: dict[str, _Block] = {}

    def take(self, placed: Placed) -> None:
        root = cast("dict[str, Any]", placed.data)
        if "schema_version" in root:
            self._top.setdefault("schema_version", root["schema_version"])
        suite = root[SUITE]
        for index, value in enumerate(suite["files"]):
            self._take_block(_Origin(value, placed, (*FILES, index)), suite.get("labels", []))
        for key, value in suite.get("global", {}).items():
            self._take_global(key, value, placed)
        # The framework drops what it does not know; this section is ours, and its models belong to no file.
        models = enumerate(suite.get("models") or [])
        self.models += [_Origin(value, placed, (*MODELS, index)) for index, value in models]

    def merged(self, name: str) -> Merged:
        suite: dict[str, Any] = {"files": [_plain_block(block) for block in self.blocks.values()]}
        if self.globals:
            suite["global"] = self.globals
        if self.models:
            suite["models"] = [model.value for model in self.models]
        root = {**self._top, SUITE: suite}
        # Collections of plain values on one line: merged manifests are long, and their size is bounded.
        text = yaml.dump(
            root, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**16, default_flow_style=None
        )
        document = ManifestDocument(name, text)
        return Merged(document, tuple(self.conflicts), self._provenances(document))

    def _take_block(self, later: _Origin, labels: list[object]) -> None:
        path = later.value["path"]
        block = self.blocks.get(path)
        if block is None:
            block = self.blocks[path] = _Block(later, list(labels))
            for entry in _entries(later):
                block.keep(entry)
            self._file_twice(later, block)
            return
        block.labels += [label for label in labels if label not in block.labels]
        unlisted = later.value.get("unlisted_test_mode", Mode.XFAIL.value)
        if unlisted != block.unlisted:
            message = f"unlisted tests of {path} are {unlisted} here and {block.unlisted} at {block.origin.provenance}"
            self._conflict(ConflictKind.UNLISTED_MODE, later, f"{message}, which counts")
        for entry in _entries(later):
            if (twin := block.twin(entry)) is None:
                block.keep(entry)
            else:
                self._dropped(entry, twin)

    def _file_twice(self, later: _Origin, block: _Block) -> None:
        first = self._files.setdefault(file_key(block.path), block)
        if first is not block:
            message = f"`{block.path}` is the file of {first.origin.provenance} in another spelling"
            self._conflict(ConflictKind.SAME_FILE, later, f"{message}, so this block is ignored")

    def _dropped(self, entry: _Origin, twin: _Origin) -> None:
        keys = dict.fromkeys(key for key in (*twin.value, *entry.value) if key not in _COMPARED)
        differing = [str(key) for key in keys if _setting(entry.value, key) != _setting(twin.value, key)]
        if differing:
            names = [str(name) for name in entry.value["names"]]
            listing = ", ".join(names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")
            message = f"this entry for {listing} is dropped: {twin.provenance} has the same names, tags and edits"
            self._conflict(ConflictKind.DROPPED_ENTRY, entry, f"{message}, and another {', '.join(differing)}")

    def _take_global(self, key: str, value: object, placed: Placed) -> None:
        if key not in self.globals:
            self.globals[key] = list(value) if isinstance(value, list) else value
            self._remember(key, value, placed)
            return
        kept = self.globals[key]
        if kept == value:
            return
        if not isinstance(kept, list) or not isinstance(value, list):
            message = f"`global.{key}` differs between the manifests and is no list, so they can not be merged"
            raise ManifestError([placed.finding(placed.place((*_GLOBAL, key)), message)])
        self._unite(key, kept, value, placed)

    def _remember(self, key: str, value: object, placed: Placed) -> None:
        if isinstance(value, list):
            for index in range(len(value)):
                self.origins[(*_GLOBAL, key, index)] = _Origin({}, placed, (*_GLOBAL, key, index))
        self.origins[(*_GLOBAL, key)] = _Origin({}, placed, (*_GLOBAL, key))

    def _unite(self, key: str, kept: list[object], value: list[object], placed: Placed) -> None:
        """Elements are told apart by their whole value, so two settings of one operator both stay."""
        present = {_serialised(item) for item in kept}
        for index, item in enumerate(value):
            if _serialised(item) in present:
                continue
            present.add(_serialised(item))
            later = _Origin({}, placed, (*_GLOBAL, key, index))
            if any(_name(item) == _name(other) for other in kept):
                message = f"{shown(_name(item))} of `global.{key}` has other settings in an earlier manifest"
                self._conflict(ConflictKind.GLOBAL_ITEM, later, f"{message}; both stay, and the last one counts")
            self.origins[(*_GLOBAL, key, len(kept))] = later
            kept.append(item)

    def _conflict(self, kind: ConflictKind, later: _Origin, message: str) -> None:
        place = later.placed.place(later.path)
        self.conflicts.append(Conflict(kind, later.placed.name, place.line, place.column, message))

    def _provenances(self, document: ManifestDocument) -> dict[str, str]:
        for index, block in enumerate(self.blocks.values()):
            self.origins[(*FILES, index)] = block.origin
            for number, entry in enumerate(block.entries):
                self.origins[(*FILES, index, "tests", number)] = entry
        for index, model in enumerate(self.models):
            self.origins[(*MODELS, index)] = model
        placed, _ = read_document(document)
        found: dict[str, str] = {}
        for path in sorted(self.origins, key=len):
            found.setdefault(f"{document.name}:{placed.place(path).line}", self.origins[path].provenance)
        return found


class _Dumper(CSafeDumper):
    """Writes everything out, so that every line of the text has one meaning."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _entries(block: _Origin) -> list[_Origin]:
    entries = block.value["tests"]
    return [_Origin(value, block.placed, (*block.path, "tests", number)) for number, value in enumerate(entries)]


def _plain_block(block: _Block) -> dict[str, Any]:
    return {
        "path": block.path,
        "unlisted_test_mode": block.unlisted,
        "labels": block.labels,
        "tests": [entry.value for entry in block.entries],
    }


def _same_besides_names(kept: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    return all(kept.get(key, empty) == later.get(key, empty) for key, empty in (("tags", []), ("edits", {})))


def _name_set(names: Iterable[object]) -> frozenset[object]:
    """A bare string is taken character by character, as there."""
    return frozenset(name.strip() if isinstance(name, str) else repr(name) for name in names)


def _setting(entry: Mapping[str, Any], key: str) -> object:
    return entry.get(key, {"mode": Mode.MANDATORY_SUCCESS.value, "labels": [], "no_grad": False}.get(key))


def _name(item: object) -> object:
    return item.get("name") if isinstance(item, dict) else item


def _serialised(item: object) -> str:
    return json.dumps(item, sort_keys=True, default=str)
