"""What a change of manifests does to the tests of a run. Compares two tables, never two texts: moving an entry, or
writing it another way, is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from selector.manifests.resolution import Resolution, Table
from selector.types import Mode


class Effect(StrEnum):
    """What becomes different for a test, most serious first: a test can only have one."""

    REMOVED = "removed"
    ADDED = "added"
    MODE = "mode"
    TOLERANCE = "tolerance"
    TAGS = "tags"


@dataclass(frozen=True, slots=True)
class Change:
    """Tests with the same difference, decided by the same rules at the same places. `before` and `after` are those of
    the first of them.
    """

    effect: Effect
    before: Resolution
    after: Resolution
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes, ordered by effect, and how many tests there are that stay as they were."""

    changes: tuple[Change, ...]
    unchanged: int

    def count(self, effect: Effect) -> int:
        """How many tests have this effect."""
        return sum(len(change.ids) for change in self.changes if change.effect is effect)


def difference(before: Table, after: Table) -> Difference:
    """The effect of going from one table to the other. Raises ValueError when they are not about the same tests in the
    same order.
    """
    groups: dict[tuple[object, ...], list[tuple[Effect, Resolution, Resolution]]] = {}
    for effect, old, new in _changed(before.rows, after.rows):
        groups.setdefault((effect, _side(effect, old), _side(effect, new)), []).append((effect, old, new))
    changes = [_change(group) for group in groups.values()]
    order = list(Effect)
    changes.sort(key=lambda change: order.index(change.effect))
    return Difference(tuple(changes), len(before.rows) - sum(len(change.ids) for change in changes))


def _changed(
    before: Sequence[Resolution], after: Sequence[Resolution]
) -> Iterator[tuple[Effect, Resolution, Resolution]]:
    if [row.id for row in before] != [row.id for row in after]:
        raise ValueError("the tables are not about the same tests in the same order")
    for old, new in zip(before, after, strict=True):
        if (effect := _effect(old, new)) is not None:
            yield effect, old, new


def _effect(old: Resolution, new: Resolution) -> Effect | None:
    """None when nothing that a run shows is different; why a test is skipped is nothing of that."""
    if old.mode is not new.mode:
        if new.mode is Mode.SKIP:
            return Effect.REMOVED
        return Effect.ADDED if old.mode is Mode.SKIP else Effect.MODE
    if new.mode is Mode.SKIP:
        return None
    if old.tolerance != new.tolerance:
        return Effect.TOLERANCE
    return Effect.TAGS if old.tags != new.tags else None


def _side(effect: Effect, row: Resolution) -> tuple[object, ...]:
    """What tests of one group have in common on one side."""
    seen = {Effect.TAGS: row.tags, Effect.TOLERANCE: row.tolerance}.get(effect)
    return row.mode, row.rule, row.provenance, seen


def _change(group: Sequence[tuple[Effect, Resolution, Resolution]]) -> Change:
    effect, before, after = group[0]
    return Change(effect, before, after, tuple(old.id for _, old, _ in group))
