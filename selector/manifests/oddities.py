"""Looks for what loads, but does not do what its author must have meant. Warnings only; needs a valid manifest.

What is found here is found on every load. The dearer rules, and those about several manifests, are in `lint`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selector.manifests.document import Path, Placed
from selector.manifests.findings import Finding, shown
from selector.manifests.rulebook import report
from selector.manifests.schema import Entry, FileBlock, Manifest, is_pattern, method_part
from selector.manifests.upstream import DEVICE_ROOT, UPSTREAM_ROOT, path_problem

FILES: Path = ("test_suite_config", "files")
GLOBAL: Path = ("test_suite_config", "global")

_TOKEN = re.compile(r"\$\{\w*\}|\$\w+")
_GLOB = re.compile(r"[*?\[]")


def oddities(placed: Placed, manifest: Manifest) -> Iterator[Finding]:
    """Every warning about one manifest, apart from unknown keys."""
    suite = manifest.test_suite_config
    if not suite.files and not suite.models:
        yield report(placed, "no-files", FILES, "`files` is empty, so this manifest says nothing")
    for key in ("supported_ops", "supported_modules"):
        if getattr(suite.global_, key) == ():
            message = f"an empty `{key}` filters nothing; leave the key out"
            yield report(placed, "allow-list-empties", (*GLOBAL, key), message)
    ceiling = frozenset(item.name for item in suite.global_.supported_dtypes) or None
    for index, block in enumerate(suite.files):
        yield from _in_block(placed, block, (*FILES, index), ceiling)


def _in_block(placed: Placed, block: FileBlock, path: Path, ceiling: frozenset[str] | None) -> Iterator[Finding]:
    yield from _in_path(placed, block.path, (*path, "path"))
    listed: dict[str, list[_Mention]] = {}
    for index, entry in enumerate(block.tests):
        yield from _in_entry(placed, entry, (*path, "tests", index), listed, ceiling)


def _in_path(placed: Placed, text: str, path: Path) -> Iterator[Finding]:
    unknown = [token for token in _TOKEN.findall(text) if token not in {UPSTREAM_ROOT, DEVICE_ROOT}]
    if unknown:
        known = f"{UPSTREAM_ROOT} and {DEVICE_ROOT}"
        yield report(placed, "unknown-token", path, f"{shown(unknown[0])} is no token; a path knows {known}")
    elif problem := path_problem(text):
        rooted = text.startswith((f"{UPSTREAM_ROOT}/", f"{DEVICE_ROOT}/", "/"))
        rule = "path-without-root" if not rooted else "glob-path" if _GLOB.search(text) else "path-outside-tree"
        yield report(placed, rule, path, problem)


@dataclass(frozen=True, slots=True)
class _Mention:
    """A method in an entry. `dtypes` are those the entry serves, None for all of them (`oot-manifests.md` 2.3)."""

    name: str
    entry: Entry
    path: Path
    dtypes: frozenset[str] | None


def _in_entry(
    placed: Placed, entry: Entry, path: Path, listed: dict[str, list[_Mention]], ceiling: frozenset[str] | None
) -> Iterator[Finding]:
    """`listed` is grown: method -> its mentions so far."""
    if not entry.names:
        yield report(placed, "empty-names", (*path, "names"), "`names` is empty, so this entry matches nothing")
    dtypes = frozenset(item.name for item in entry.edits.dtypes.include) or ceiling
    for index, name in enumerate(entry.names):
        mention = _Mention(name, entry, (*path, "names", index), dtypes)
        method = method_part(name)
        if method != method.strip():
            message = "a name with a blank at its start or end matches nothing"
            yield report(placed, "padded-name", mention.path, message)
        elif not is_pattern(method):
            earlier = listed.setdefault(method, [])
            if earlier and _is_served(mention, earlier):
                yield _listed_before(placed, method, mention, earlier[0])
            earlier.append(mention)


def _is_served(mention: _Mention, earlier: Sequence[_Mention]) -> bool:
    """Whether earlier mentions take every variant that this one could be chosen for."""
    if any(other.dtypes is None for other in earlier):
        return True
    served = frozenset().union(*(other.dtypes or () for other in earlier))
    return mention.dtypes is not None and mention.dtypes <= served


def _listed_before(placed: Placed, method: str, mention: _Mention, first: _Mention) -> Finding:
    before = f"`{method}` is listed in line {placed.place(first.path).line} already"
    if mention.entry is first.entry:
        return report(placed, "duplicate-name", mention.path, f"{before}, in this entry")
    if mention.entry.mode is not first.entry.mode:
        decided = f"{before}, as {first.entry.mode}, which decides"
        if mention.name == first.name:
            return report(placed, "shadowed-entry", mention.path, decided)
        return report(placed, "class-conflict", mention.path, f"{decided}: class names are not compared")
    if (mention.entry.tags, mention.entry.edits) != (first.entry.tags, first.entry.edits):
        message = f"{before}, which decides: the tags and edits here are lost"
        return report(placed, "shadowed-entry", mention.path, message)
    return report(placed, "duplicate-name", mention.path, f"{before}, with the same mode")
