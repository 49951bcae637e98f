"""What differs between upstream's databases of operators in two trees: `compare_tables`.

An entry differs by what it says, or by a function that it uses and that another text now stands for. What nearly every
entry uses is told once, in a note, for it says nothing about any one operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from selector.upgrade.operators.entries import UPSTREAM_DEVICES
from selector.upgrade.operators.table import Argument, Decorator, OperatorEntry, OperatorTable
from selector.upgrade.operators.uses import ChangedUses, is_everybodys
from selector.upgrade.types import Evidence, OpInfoAspect, OpInfoChange, OpInfoDifference, TestChange

_SHOWN = 6
_Found = Iterator[tuple[OpInfoAspect, Evidence]]


def compare_tables(before: OperatorTable, after: OperatorTable) -> OpInfoDifference:
    """The entries that came, went or differ."""
    uses, given = ChangedUses(before, after), _Given(before, after)
    names = sorted(before.entries.keys() | after.entries.keys())
    changes = (_change(before.entries.get(name), after.entries.get(name), uses, given) for name in names)
    found = tuple(change for change in changes if change is not None)
    notes = (*_notes(before, after), *uses.notes(), *given.notes())
    return OpInfoDifference(found, len(before.entries), len(after.entries), notes)


def _notes(before: OperatorTable, after: OperatorTable) -> Iterator[str]:
    """What was not understood, once where it is the same of both."""
    yield from (note if note in after.notes else f"before: {note}" for note in before.notes)
    yield from (f"after: {note}" for note in after.notes if note not in before.notes)


def _change(
    before: OperatorEntry | None, after: OperatorEntry | None, uses: ChangedUses, given: _Given
) -> OpInfoChange | None:
    if before is None or after is None:
        return _came_or_went(before, after)
    found = list(_differences(before, after, uses, given))
    if not found:
        return None
    aspects = {aspect for aspect, _ in found}
    if len(aspects) > 1:
        aspects.discard(OpInfoAspect.ELSEWHERE)
    return OpInfoChange(
        after.name,
        TestChange.BODY,
        tuple(aspect for aspect in OpInfoAspect if aspect in aspects),
        before.dtypes or frozenset(),
        after.dtypes or frozenset(),
        tuple(evidence for aspect, evidence in found if aspect in aspects),
    )


def _came_or_went(before: OperatorEntry | None, after: OperatorEntry | None) -> OpInfoChange | None:
    if after is not None:
        evidence = Evidence(TestChange.ADDED, after.name, f"new entry, {after.kind}", head=after.place)
        return OpInfoChange(
            after.name, TestChange.ADDED, dtypes_after=after.dtypes or frozenset(), evidence=(evidence,)
        )
    if before is not None:
        evidence = Evidence(TestChange.REMOVED, before.name, f"entry removed, {before.kind}", base=before.place)
        return OpInfoChange(
            before.name, TestChange.REMOVED, dtypes_before=before.dtypes or frozenset(), evidence=(evidence,)
        )
    return None


def _differences(before: OperatorEntry, after: OperatorEntry, uses: ChangedUses, given: _Given) -> _Found:
    yield from _dtypes(before, after)
    yield from _decorators(before, after)
    yield from _arguments(before, after, uses, given)


def _dtypes(before: OperatorEntry, after: OperatorEntry) -> _Found:
    """What is said of both, of gradients only where it is something else than of values."""
    said = _signs(before.dtypes, after.dtypes)
    if said:
        yield OpInfoAspect.DTYPES, _own(before, after, f"dtypes: {said}")
    of_gradients = _signs(before.backward_dtypes, after.backward_dtypes)
    if of_gradients not in ("", said):
        yield OpInfoAspect.DTYPES, _own(before, after, f"dtypes of gradients: {of_gradients}")


def _signs(before: frozenset[str] | None, after: frozenset[str] | None) -> str:
    if before is None or after is None:
        return ""
    return ", ".join(
        [*(f"+{name}" for name in sorted(after - before)), *(f"-{name}" for name in sorted(before - after))]
    )


def _decorators(before: OperatorEntry, after: OperatorEntry) -> _Found:
    by_digest = {one.digest: one for one in (*before.decorators, *after.decorators)}
    old, new = (Counter(one.digest for one in entry.decorators) for entry in (before, after))
    signs = [("+", digest) for digest in (new - old).elements()] + [("-", digest) for digest in (old - new).elements()]
    for aspect, elsewhere in ((OpInfoAspect.DECORATORS, False), (OpInfoAspect.ELSEWHERE, True)):
        said = [f"{sign}{by_digest[one].text}" for sign, one in signs if is_elsewhere(by_digest[one]) is elsewhere]
        if said:
            more = f" and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
            yield aspect, _own(before, after, f"decorators: {'; '.join(said[:_SHOWN])}{more}")


def is_elsewhere(decorator: Decorator) -> bool:
    """Whether a decorator is for upstream's own devices alone."""
    return bool(decorator.devices) and all(device in UPSTREAM_DEVICES for device in decorator.devices)


def _arguments(before: OperatorEntry, after: OperatorEntry, uses: ChangedUses, given: _Given) -> _Found:
    if before.kind != after.kind:
        yield (
            OpInfoAspect.OTHER,
            _own(before, after, f"class: {before.kind or 'unknown'}, now {after.kind or 'unknown'}"),
        )
    for aspect, old, new in (
        (OpInfoAspect.SAMPLES, before.samples, after.samples),
        (OpInfoAspect.OTHER, before.others, after.others),
    ):
        for name, text in given.others(old, new):
            yield OpInfoAspect.ELSEWHERE if "dtypesIf" in name else aspect, _own(before, after, text)
        yield from ((aspect, evidence) for evidence in uses.of(new))


class _Given:
    """The arguments that are others than before. What a class gives to nearly all entries alike is told once."""

    def __init__(self, before: OperatorTable, after: OperatorTable) -> None:
        common = [(before.entries[name], entry) for name, entry in after.entries.items() if name in before.entries]
        pairs = [
            *((old.samples, new.samples) for old, new in common),
            *((old.others, new.others) for old, new in common),
        ]
        counts = Counter(one for old, new in pairs for one in _differing(old, new))
        self._everybodys = {one: count for one, count in counts.items() if is_everybodys(count, len(after.entries))}

    def others(self, before: Mapping[str, Argument], after: Mapping[str, Argument]) -> Iterator[tuple[str, str]]:
        """Their names, and what is said of each."""
        yield from ((one[0], _said(*one)) for one in _differing(before, after) if one not in self._everybodys)

    def notes(self) -> Iterator[str]:
        """What is told once."""
        for one, count in sorted(self._everybodys.items()):
            yield f"{_said(*one)}; as {count} entries have it from their class, it is told here alone"


def _differing(before: Mapping[str, Argument], after: Mapping[str, Argument]) -> Iterator[tuple[str, str, str]]:
    """Names, what stood there and what stands there now. What only one side's class has is the class's business."""
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name].digest, after[name].digest
        if old != new:
            yield name, old, new


def _said(name: str, before: str, after: str) -> str:
    return f"{name} is another" if "@" in (before[0], after[0]) else f"{name}: {before}, now {after}"


def _own(before: OperatorEntry, after: OperatorEntry, text: str) -> Evidence:
    return Evidence(TestChange.BODY, after.name, text, before.place, after.place)
