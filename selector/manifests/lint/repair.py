"""Mends what can be mended in a manifest without a decision: what it means for every test stays the same.

Only findings of `lint` are mended, one rule after the other, by edits that keep comments (`edit.py`). What would need
a guess, such as the right spelling of a key, is left to a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from selector.manifests.document import ManifestDocument, Path
from selector.manifests.lint import lint
from selector.manifests.lint.checked import Checked, examine
from selector.manifests.lint.edit import Edit, EditError, Remove, SetValue, apply
from selector.manifests.oddities import GLOBAL


@dataclass(frozen=True, slots=True)
class Repair:
    """A text with faults mended. `mended` counts them by rule; `refused` says why some were not."""

    text: str
    mended: Mapping[str, int]
    refused: tuple[str, ...]


def repair(document: ManifestDocument) -> Repair:
    """Mend every fault that is safe to mend. A manifest that does not load is left as it is, and so is one whose text
    can not be edited without harm. To mend a mended text changes nothing.
    """
    text = document.text
    refused: list[str] = []
    mended: dict[str, int] = {}
    broken = {finding.rule for finding in lint([document])}
    for rule in (rule for rule in _PROPOSALS if rule in broken):
        text, count, problems = _mend(ManifestDocument(document.name, text), rule)
        refused += [f"{document.name}: {rule}: {problem}" for problem in problems]
        if count:
            mended[rule] = count
    return Repair(text, mended, tuple(refused))


def _mend(document: ManifestDocument, rule: str) -> tuple[str, int, list[str]]:
    """The text with the faults of one rule mended, how many were, and why others were not."""
    edits = _edits(document, rule)
    try:
        return apply(document.text, edits), len(edits), []
    except EditError:
        return _mend_singly(document, rule)


def _mend_singly(document: ManifestDocument, rule: str) -> tuple[str, int, list[str]]:
    count = 0
    problems: list[str] = []
    while len(edits := _edits(document, rule)) > len(problems):
        try:
            text = apply(document.text, [edits[len(problems)]])
        except EditError as error:
            problems.append(str(error))
        else:
            document = ManifestDocument(document.name, text)
            count += 1
    return document.text, count, problems


def _edits(document: ManifestDocument, rule: str) -> list[Edit]:
    """Those proposals of a rule that stand where the rule has a finding."""
    checked, _ = examine(document)
    if checked is None:
        return []
    found = {(finding.line, finding.column) for finding in lint([document]) if finding.rule == rule}
    return [edit for where, edit in _PROPOSALS[rule](checked) if _position(checked, where) in found]


def _position(checked: Checked, path: Path) -> tuple[int, int]:
    place = checked.placed.place(path)
    return place.line, place.column


Proposals = Iterator[tuple[Path, Edit]]


def _quoted_paths(checked: Checked) -> Proposals:
    for path, block in checked.blocks():
        where: Path = (*path, "path")
        yield where, SetValue(where, block.path)


def _missing_modes(checked: Checked) -> Proposals:
    for path, block in checked.blocks():
        yield path, SetValue((*path, "unlisted_test_mode"), str(block.unlisted_test_mode), after="path")


def _empty_entries(checked: Checked) -> Proposals:
    for path, _, entry in checked.entries():
        if not entry.names:
            yield (*path, "names"), Remove(path)


def _repeated_names(checked: Checked) -> Proposals:
    """Within one entry only: elsewhere the edits of both entries count (`oot-manifests.md` 1.6)."""
    for path, _, entry in checked.entries():
        for index, name in enumerate(entry.names):
            if name in entry.names[:index]:
                where: Path = (*path, "names", index)
                yield where, Remove(where)


def _empty_lists(checked: Checked) -> Proposals:
    for key in ("supported_ops", "supported_modules"):
        where: Path = (*GLOBAL, key)
        if checked.value(where) == []:
            yield where, Remove(where)


def _precisions(checked: Checked) -> Proposals:
    for path, value in checked.precisions():
        if isinstance(value, str):
            yield path, SetValue(path, float(value))


_PROPOSALS: Mapping[str, Callable[[Checked], Proposals]] = {
    "quoted-path": _quoted_paths,
    "missing-unlisted-mode": _missing_modes,
    "empty-names": _empty_entries,
    "duplicate-name": _repeated_names,
    "allow-list-empties": _empty_lists,
    "precision-string": _precisions,
}
