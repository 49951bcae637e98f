"""Writes into a manifest that base tests are required which an entry expects to fail.

Chooses the smallest edit: an entry that says no more goes when everything unlisted is required, a name leaves an entry
that it shares, and else the mode changes. Whether the edit means what it should is for the caller to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import yaml
from yaml import CSafeLoader

from selector.manifests.authoring.splicing import Manuscript
from selector.manifests.document import ManifestDocument
from selector.manifests.schema import is_pattern, method_part
from selector.manifests.upstream import upstream_file
from selector.types import Mode

#: What an entry says about the failure that is over.
_EXCUSES = ("reason", "issue", "owner", "expires")
_REQUIRED = Mode.MANDATORY_SUCCESS.value


def require(document: ManifestDocument, wanted: Iterable[tuple[str, int, str]]) -> str:
    """The text in which each (file, number of the entry, base name) is required. Raises SpliceError."""
    by_entry: dict[tuple[str, int], set[str]] = {}
    for file, entry, base in wanted:
        by_entry.setdefault((file, entry), set()).add(base)
    manuscript = Manuscript(document.name, document.text)
    files = yaml.load(document.text, Loader=CSafeLoader)["test_suite_config"]["files"]
    blocks: dict[str | None, Mapping[str, object]] = {}
    for block in files:
        blocks.setdefault(upstream_file(block["path"]), block)
    added: dict[str, list[Mapping[str, object]]] = {}
    for (file, entry), bases in by_entry.items():
        added.setdefault(file, []).extend(_change(manuscript, file, blocks[file], entry, bases))
    for file, entries in added.items():
        if entries:
            manuscript.add_entries(file, entries)
    return manuscript.text()


def _change(
    manuscript: Manuscript, file: str, block: Mapping[str, object], number: int, bases: set[str]
) -> list[Mapping[str, object]]:
    """Change one entry; the answer is what has to be added."""
    tests = block["tests"]
    written: Mapping[str, object] = tests[number] if isinstance(tests, list) else {}
    listed = _names(written)
    leaving = [name for name in listed if method_part(name) in bases]
    by_pattern = sorted(bases - {method_part(name) for name in leaving})
    unlisted_is_required = block.get("unlisted_test_mode") == _REQUIRED
    says_more = bool(set(written) - {"names", "mode", *_EXCUSES})
    needed = not unlisted_is_required or says_more or _listed_elsewhere(tests, number, bases)
    if len(leaving) < len(listed):
        if leaving:
            manuscript.drop_names(file, number, {method_part(name) for name in leaving})
        return [_sibling(written, [*leaving, *by_pattern])] if needed else []
    if needed:
        manuscript.set_mode(file, number, _REQUIRED, _EXCUSES)
    else:
        manuscript.drop_entry(file, number)
    return []


def _listed_elsewhere(tests: object, number: int, bases: set[str]) -> bool:
    """Whether another name would have a say once this entry has none. Patterns are taken to fit."""
    entries = enumerate(tests) if isinstance(tests, list) else []
    methods = ((other, method_part(name)) for other, entry in entries for name in _names(entry))
    return any(is_pattern(method) or (other != number and method in bases) for other, method in methods)


def _names(written: Mapping[str, object]) -> list[str]:
    names = written.get("names")
    return [names] if isinstance(names, str) else list(names) if isinstance(names, list) else []


def _sibling(written: Mapping[str, object], names: list[str]) -> Mapping[str, object]:
    """An entry that says the same of other names, and requires them."""
    kept = {key: value for key, value in written.items() if key not in {"names", "mode", *_EXCUSES}}
    return {"names": names, "mode": _REQUIRED, **kept}
