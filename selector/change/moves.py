"""Definitions of Python that left one file of a change and came unchanged to another.

A move of a function is a change of imports, not of what it does. Tests that moved stay new tests of their new file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from selector.change.facts import Effect, Fact, FactKind, FileChange
from selector.change.symbols import Aspect, Changed, Difference
from selector.source import last_part

Key = tuple[str, str]


def follow_moves(files: Iterable[FileChange], differences: Mapping[str, Difference]) -> tuple[FileChange, ...]:
    """The files, in whose facts a definition that moved is one. `differences` is by path."""
    gone = _places(differences, Aspect.REMOVED)
    came = _places(differences, Aspect.ADDED)
    moved = {
        place: f"moved to {came[key][0]}" for key, place in gone.items() if key in came and came[key][0] != place[0]
    } | {came[key]: f"moved from {place[0]}" for key, place in gone.items() if key in came and came[key][0] != place[0]}
    return tuple(_followed(file, moved) for file in files) if moved else tuple(files)


def _places(differences: Mapping[str, Difference], aspect: Aspect) -> dict[Key, tuple[str, str]]:
    """File and symbol by name and digest. A name that came or went twice alike cannot be followed."""
    places: dict[Key, list[tuple[str, str]]] = {}
    for path, difference in differences.items():
        for change in difference.changed:
            if change.aspect is aspect and change.whole:
                places.setdefault(_key(change), []).append((path, change.symbol))
    return {key: found[0] for key, found in places.items() if len(found) == 1}


def _key(change: Changed) -> Key:
    return last_part(change.symbol), change.whole


def _followed(file: FileChange, moved: Mapping[tuple[str, str], str]) -> FileChange:
    return replace(file, facts=tuple(_moved(fact, moved.get((file.path, fact.symbol))) for fact in file.facts))


def _moved(fact: Fact, evidence: str | None) -> Fact:
    if evidence is None:
        return fact
    stays = fact.kind is FactKind.TEST or fact.effect is Effect.EVERYTHING
    return replace(fact, evidence=evidence) if stays else replace(fact, effect=Effect.MOVED, evidence=evidence)
