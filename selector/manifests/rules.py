"""A file block as the matcher uses it: names compiled, lists turned into sets, every entry with its provenance.

Frozen, and built once for each load. Which entry wins and what follows from it is decided in `plan.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from selector.manifests.document import Path, Placed
from selector.manifests.oddities import FILES
from selector.manifests.schema import Entry, FileBlock, GlobalConfig, SupportedOp, is_pattern, method_part
from selector.types import Mode


@dataclass(frozen=True, slots=True)
class EntryRules:
    """One entry of a file block. `provenance` is `manifest.yaml:line`; `included` empty means no own dtype set."""

    provenance: str
    mode: Mode
    tags: tuple[str, ...]
    labels: frozenset[str]
    included: frozenset[str]
    excluded_dtypes: frozenset[str]
    excluded_ops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeviceRules:
    """The `global` section. `ceiling` None: every dtype is supported; `ops` None: every operator is."""

    ceiling: frozenset[str] | None
    xfail_dtypes: frozenset[str]
    ops: Mapping[str, frozenset[str]] | None
    xfail_ops: frozenset[str]


@dataclass(frozen=True, slots=True)
class FileRules:
    """Everything a manifest says about one file."""

    provenance: str
    path: str
    unlisted: Mode
    device: DeviceRules
    exact: Mapping[str, tuple[EntryRules, ...]]
    patterns: tuple[tuple[re.Pattern[str], EntryRules], ...]

    def candidates(self, base: str) -> tuple[EntryRules, ...]:
        """Entries for a base method: exact names in file order, then patterns in file order, none twice
        (`oot-manifests.md` 2.2)."""
        found = dict.fromkeys(self.exact.get(base, ()))
        found.update(dict.fromkeys(rules for pattern, rules in self.patterns if pattern.fullmatch(base)))
        return tuple(found)


def device_rules(config: GlobalConfig) -> DeviceRules:
    """Compile the `global` section. An operator that is named twice keeps its last mention."""
    ops = None if config.supported_ops is None else {op.name: op for op in config.supported_ops}
    return DeviceRules(
        ceiling=frozenset(item.name for item in config.supported_dtypes) or None,
        xfail_dtypes=frozenset(item.name for item in config.supported_dtypes if item.force_xfail),
        ops=None if ops is None else {name: _op_dtypes(op) for name, op in ops.items()},
        xfail_ops=frozenset(name for name, op in (ops or {}).items() if op.force_xfail),
    )


def file_rules(placed: Placed, index: int, block: FileBlock, device: DeviceRules) -> FileRules:
    """Compile file block number `index` of a manifest."""
    path: Path = (*FILES, index)
    exact: dict[str, list[EntryRules]] = {}
    patterns: list[tuple[re.Pattern[str], EntryRules]] = []
    for number, entry in enumerate(block.tests):
        rules = _entry_rules(_provenance(placed, (*path, "tests", number)), entry)
        for method in map(method_part, entry.names):
            if is_pattern(method):
                patterns.append((re.compile(method), rules))
            else:
                exact.setdefault(method, []).append(rules)
    frozen = {method: tuple(entries) for method, entries in exact.items()}
    return FileRules(_provenance(placed, path), block.path, block.unlisted_test_mode, device, frozen, tuple(patterns))


def _entry_rules(provenance: str, entry: Entry) -> EntryRules:
    dtypes = entry.edits.dtypes
    return EntryRules(
        provenance=provenance,
        mode=entry.mode,
        tags=entry.tags,
        labels=frozenset(entry.labels),
        included=frozenset(item.name for item in dtypes.include),
        excluded_dtypes=frozenset(item.name for item in dtypes.exclude),
        excluded_ops=tuple(item.name for item in entry.edits.ops.exclude),
    )


def _op_dtypes(op: SupportedOp) -> frozenset[str]:
    return frozenset(item.name for item in op.dtypes)


def _provenance(placed: Placed, path: Path) -> str:
    return f"{placed.name}:{placed.place(path).line}"
