"""A file block as the matcher uses it: names compiled, lists turned into sets, every entry with its provenance.

Frozen, and built once for each load. Which entry wins and what follows from it is decided in `decision.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from selector.manifests.document import Path, Placed
from selector.manifests.oddities import FILES
from selector.manifests.precision import DtypeItem, Precision
from selector.manifests.schema import (
    Entry,
    FileBlock,
    GlobalConfig,
    SupportedOp,
    class_part,
    is_pattern,
    method_part,
)
from selector.types import Mode

_SUPPORTED_OPS: Path = ("test_suite_config", "global", "supported_ops")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Absolute and relative tolerance of a comparison. None leaves that one to the test."""

    atol: float | None
    rtol: float | None


@dataclass(frozen=True, slots=True)
class Remarks:
    """What people should know about an entry: why it is so, where that is discussed, who answers, until when."""

    reason: str = ""
    issue: str = ""
    owner: str = ""
    expires: date | None = None


@dataclass(frozen=True, slots=True)
class EntryRules:
    """One entry of a file block, number `index` in it, at `provenance` (`manifest.yaml:line`). `included` empty means
    no own dtype set; `platforms` empty means every platform.

    `isolate` and `timeout_s` (seconds, None for the runner's own limit) are wishes for the run: carried, not obeyed
    here.
    """

    provenance: str
    index: int
    mode: Mode
    tags: tuple[str, ...]
    labels: frozenset[str]
    included: frozenset[str]
    excluded_dtypes: frozenset[str]
    excluded_ops: tuple[str, ...]
    platforms: tuple[str, ...] = ()
    isolate: bool = False
    timeout_s: float | None = None
    remarks: Remarks = Remarks()
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class OpRules:
    """An operator of the allow-list. No dtypes: all of them."""

    provenance: str
    dtypes: frozenset[str]
    tolerance: Tolerance | None


@dataclass(frozen=True, slots=True)
class DeviceRules:
    """The `global` section. `ceiling` None: every dtype is supported; `ops` None: every operator is."""

    ceiling: frozenset[str] | None
    xfail_dtypes: frozenset[str]
    tolerances: Mapping[str, Tolerance]
    ops: Mapping[str, OpRules] | None
    xfail_ops: frozenset[str]
    ops_provenance: str


@dataclass(frozen=True, slots=True)
class EntryName:
    """One name of an entry, compiled. `cls` and `method` are None where there is nothing to match by pattern."""

    text: str
    entry: EntryRules
    cls: re.Pattern[str] | None
    method: re.Pattern[str] | None

    def is_for_class(self, cls: str) -> bool:
        """Whether the class part, when there is one, names this class."""
        written = class_part(self.text)
        return written in {"", cls} or (self.cls is not None and self.cls.fullmatch(cls) is not None)


@dataclass(frozen=True, slots=True)
class FileRules:
    """Everything a manifest says about one file."""

    provenance: str
    path: str
    unlisted: Mode
    device: DeviceRules
    exact: Mapping[str, tuple[EntryName, ...]]
    patterns: tuple[EntryName, ...]

    def matches(self, base: str) -> tuple[EntryName, ...]:
        """Names that fit a base method, whatever their class part: exact names in file order, then patterns in file
        order (`oot-manifests.md` 2.2)."""
        by_pattern = (name for name in self.patterns if name.method is not None and name.method.fullmatch(base))
        return (*self.exact.get(base, ()), *by_pattern)

    def candidates(self, base: str) -> tuple[EntryRules, ...]:
        """Entries for a base method in the order of `matches`, none twice."""
        return tuple(dict.fromkeys(name.entry for name in self.matches(base)))


def device_rules(placed: Placed, config: GlobalConfig) -> DeviceRules:
    """Compile the `global` section. An operator that is named twice keeps its last mention."""
    ops = {op.name: (index, op) for index, op in enumerate(config.supported_ops or ())}
    return DeviceRules(
        ceiling=frozenset(item.name for item in config.supported_dtypes) or None,
        xfail_dtypes=frozenset(item.name for item in config.supported_dtypes if item.force_xfail),
        tolerances=_tolerances(config.supported_dtypes),
        ops=None if config.supported_ops is None else {name: _op_rules(placed, *op) for name, op in ops.items()},
        xfail_ops=frozenset(name for name, (_, op) in ops.items() if op.force_xfail),
        ops_provenance=_provenance(placed, _SUPPORTED_OPS),
    )


def file_rules(placed: Placed, index: int, block: FileBlock, device: DeviceRules) -> FileRules:
    """Compile file block number `index` of a manifest."""
    path: Path = (*FILES, index)
    exact: dict[str, list[EntryName]] = {}
    patterns: list[EntryName] = []
    for number, entry in enumerate(block.tests):
        rules = _entry_rules(_provenance(placed, (*path, "tests", number)), number, entry)
        for name in (_entry_name(text, rules) for text in entry.names):
            if name.method is not None:
                patterns.append(name)
            else:
                exact.setdefault(method_part(name.text), []).append(name)
    frozen = {method: tuple(names) for method, names in exact.items()}
    return FileRules(_provenance(placed, path), block.path, block.unlisted_test_mode, device, frozen, tuple(patterns))


def _entry_name(text: str, rules: EntryRules) -> EntryName:
    return EntryName(text, rules, _class_pattern(class_part(text)), _pattern(method_part(text)))


def _pattern(text: str) -> re.Pattern[str] | None:
    return re.compile(text) if is_pattern(text) else None


def _class_pattern(text: str) -> re.Pattern[str] | None:
    """None also for a class part that is no valid pattern: the framework never looks at it, so it may be anything."""
    try:
        return _pattern(text)
    except (re.error, RecursionError, OverflowError, FutureWarning):
        return None


def _entry_rules(provenance: str, index: int, entry: Entry) -> EntryRules:
    dtypes = entry.edits.dtypes
    return EntryRules(
        provenance=provenance,
        index=index,
        mode=entry.mode,
        tags=entry.tags,
        labels=frozenset(entry.labels),
        included=frozenset(item.name for item in dtypes.include),
        excluded_dtypes=frozenset(item.name for item in dtypes.exclude),
        excluded_ops=tuple(item.name for item in entry.edits.ops.exclude),
        platforms=entry.platforms,
        isolate=entry.isolate,
        timeout_s=entry.timeout_s,
        remarks=Remarks(entry.reason or "", entry.issue or "", entry.owner or "", entry.expires),
        tolerances=_tolerances(dtypes.include),
    )


def _op_rules(placed: Placed, index: int, op: SupportedOp) -> OpRules:
    """The first dtype that carries a precision gives the operator its one tolerance (`oot-manifests.md` 1.7)."""
    precise = (_tolerance(item.precision) for item in op.dtypes if item.precision is not None)
    dtypes = frozenset(item.name for item in op.dtypes)
    return OpRules(_provenance(placed, (*_SUPPORTED_OPS, index)), dtypes, next(precise, None))


def _tolerances(items: Iterable[DtypeItem]) -> dict[str, Tolerance]:
    return {item.name: _tolerance(item.precision) for item in items if item.precision is not None}


def _tolerance(precision: Precision) -> Tolerance:
    """With `rtol` both count, and a missing `atol` is 0 (`oot-manifests.md` 1.7)."""
    both = precision.rtol is not None and precision.atol is None
    return Tolerance(0.0 if both else precision.atol, precision.rtol)


def _provenance(placed: Placed, path: Path) -> str:
    return f"{placed.name}:{placed.place(path).line}"
