"""Rules about one manifest that are too dear, or too fussy, for every load."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selector.manifests.document import Path
from selector.manifests.dtypes import dtype_in_name
from selector.manifests.findings import Finding, shown
from selector.manifests.lint.checked import Checked
from selector.manifests.lint.inputs import in_inputs
from selector.manifests.lint.listing import in_listing
from selector.manifests.oddities import GLOBAL
from selector.manifests.schema import Entry, FileBlock, is_pattern, method_part
from selector.manifests.upstream import UPSTREAM_ROOT

#: The tiers of the framework's file selection (`oot-manifests.md` 2.7).
TIERS = ("smoke", "unit", "integration", "regression", "trunk", "perf")

#: A repetition right after a letter, which is what a glob looks like and hardly ever what a pattern wants.
_GLOB_STAR = re.compile(r"(?<![\\.])(?<!\\[A-Za-z])[A-Za-z0-9_][*?]|^[*?]")


def inside(checked: Checked) -> Iterator[Finding]:
    """Every finding of these rules in one manifest."""
    yield from _labels(checked)
    yield from _global(checked)
    for path, block in checked.blocks():
        if "unlisted_test_mode" not in block.model_fields_set:
            message = "`unlisted_test_mode` is missing; it counts as `xfail`"
            yield checked.report("missing-unlisted-mode", path, message)
        yield from _patterns(checked, path, block)
    for path, block, entry in checked.entries():
        yield from _entry(checked, path, block, entry)
    yield from _dtype_words(checked)
    for path, model in checked.whole_models():
        if model.uses is None:
            message = f"nothing is on record of what the model {model.name} uses, so every change of code leads to it"
            yield checked.report("model-without-uses", path, message)
    yield from in_inputs(checked)
    yield from in_listing(checked)


def _labels(checked: Checked) -> Iterator[Finding]:
    suite = checked.suite
    for index, label in enumerate(suite.labels):
        if label not in TIERS:
            message = f"the label {shown(label)} is no tier, so it selects nothing"
            yield checked.report("orphan-label", ("test_suite_config", "labels", index), message)
    for path, block, entry in checked.entries():
        tiers = block.labels or suite.labels
        for index, label in enumerate(entry.labels):
            if label not in TIERS and label not in tiers:
                message = f"the label {shown(label)} is no tier, and no label of this file"
                yield checked.report("orphan-label", (*path, "labels", index), message)
        if entry.labels and tiers and set(entry.labels).isdisjoint(tiers):
            message = f"runs under {' or '.join(entry.labels)} only, and this file only under {', '.join(tiers)}"
            yield checked.report("unreachable-label", (*path, "labels"), message)


def _global(checked: Checked) -> Iterator[Finding]:
    for index, op in enumerate(checked.suite.global_.supported_ops or ()):
        if op.force_xfail and "." in op.name:
            message = f"`force_xfail` of `{op.name}` never applies: its generated names have no dot"
            yield checked.report("dotted-operator", (*GLOBAL, "supported_ops", index), message)
    for index, module in enumerate(checked.suite.global_.supported_modules or ()):
        if module.force_xfail:
            message = "`force_xfail` of a module is read by no code"
            yield checked.report("inert-key", (*GLOBAL, "supported_modules", index, "force_xfail"), message)


def _entry(checked: Checked, path: Path, block: FileBlock, entry: Entry) -> Iterator[Finding]:
    edits = (*path, "edits")
    if entry.edits.ops.include and block.path.startswith(UPSTREAM_ROOT):
        message = "`ops.include` has no effect on an upstream file; the model-operator test alone reads it"
        yield checked.report("inert-key", (*edits, "ops", "include"), message)
    for index, op in enumerate(entry.edits.ops.exclude):
        if "." in op.name:
            message = f"`{op.name}` never matches: generated names have underscores where operators have dots"
            yield checked.report("dotted-operator", (*edits, "ops", "exclude", index), message)
    for index, dtype in enumerate(entry.edits.dtypes.include):
        if dtype.force_xfail:
            message = "`force_xfail` of an included dtype is read by no code; `global.supported_dtypes` has it"
            yield checked.report("inert-key", (*edits, "dtypes", "include", index, "force_xfail"), message)


def _dtype_words(checked: Checked) -> Iterator[Finding]:
    """Base names from which the framework reads a dtype that it then filters by (`oot-manifests.md` 2.5)."""
    ceiling = frozenset(item.name for item in checked.suite.global_.supported_dtypes)
    for path, _, entry in checked.entries():
        dtypes = entry.edits.dtypes
        excluded = {item.name for item in dtypes.exclude}
        allowed = ceiling | {item.name for item in dtypes.include}
        for index, name in enumerate(entry.names):
            method = method_part(name)
            dtype = None if is_pattern(method) else dtype_in_name(method)
            if dtype and (dtype in excluded or (ceiling and dtype not in allowed)):
                message = f"`{method}` reads as a variant for {dtype}, which is filtered out here, so it may never run"
                yield checked.report("dtype-in-name", (*path, "names", index), message)


def _patterns(checked: Checked, path: Path, block: FileBlock) -> Iterator[Finding]:
    exact = {
        method: entry for entry in block.tests for name in entry.names if not is_pattern(method := method_part(name))
    }
    seen: dict[str, Path] = {}
    for number, entry in enumerate(block.tests):
        for index, name in enumerate(entry.names):
            method = method_part(name)
            if is_pattern(method):
                where = (*path, "tests", number, "names", index)
                yield from _pattern(checked, method, where, seen)
                yield from _lost_tags(checked, method, where, entry, exact)


def _pattern(checked: Checked, method: str, where: Path, seen: dict[str, Path]) -> Iterator[Finding]:
    """`seen` is grown: pattern -> where it stood first."""
    if _GLOB_STAR.search(method):
        message = f"{shown(method)} looks like a glob, and is matched as a regular expression; write `.*` for any text"
        yield checked.report("glob-pattern", where, message)
    if (first := seen.setdefault(method, where)) is not where:
        line = checked.placed.place(first).line
        yield checked.report("duplicate-name", where, f"the pattern {shown(method)} is listed in line {line} already")


def _lost_tags(checked: Checked, method: str, where: Path, entry: Entry, exact: dict[str, Entry]) -> Iterator[Finding]:
    if not entry.tags:
        return
    pattern = re.compile(method)
    taken = [
        name for name, owner in exact.items() if not set(entry.tags) <= set(owner.tags) and pattern.fullmatch(name)
    ]
    if taken:
        more = f" and {len(taken) - 1} more" if len(taken) > 1 else ""
        message = f"the tags here do not reach `{taken[0]}`{more}: an exact name goes before a pattern"
        yield checked.report("lost-tags", where, message)
