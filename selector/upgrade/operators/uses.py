"""Which functions that entries lead to are others than before, and from which arguments they are reached.

A definition that came or went is no difference of its own: whatever uses it says so and differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from selector.upgrade.operators.table import Argument, Definition, OperatorEntry, OperatorTable
from selector.upgrade.types import Evidence, TestChange

#: Entries, and share of all, from which on something is everybody's and told once.
_HUB_ENTRIES = 100
_HUB_SHARE = 0.25
_SHOWN = 10


class ChangedUses:
    """The changed definitions of the newer of two tables."""

    def __init__(self, before: OperatorTable, after: OperatorTable) -> None:
        self._after = after.definitions
        self._changed = dict(_changed(before.definitions, after.definitions))
        self._from = _ways(self._changed, after)
        counts = Counter(name for entry in after.entries.values() for name in self._reached(entry))
        self._hubs = {name: count for name, count in counts.items() if is_everybodys(count, len(after.entries))}

    def of(self, arguments: Mapping[str, Argument]) -> Iterator[Evidence]:
        """The changed definitions that arguments lead to, the nearest first; those that everybody uses left out."""
        ways: dict[str, tuple[str, ...]] = {}
        for argument, given in arguments.items():
            for way in (way for root in given.names for way in self._from.get(root, ())):
                if way[-1] not in self._hubs and (way[-1] not in ways or len(way) < len(ways[way[-1]]) - 1):
                    ways[way[-1]] = (argument, *way)
        for name, way in sorted(ways.items(), key=lambda pair: (len(pair[1]), pair[0]))[:_SHOWN]:
            old, new = self._changed[name], self._after[name]
            chain = (way[0], *map(_short, way[1:]))
            text = f"{_short(name)} is another" + (f", used by {chain[-2]}" if len(chain) > 2 else "")
            yield Evidence(TestChange.HELPER, _short(name), text, old.place, new.place, chain)

    def notes(self) -> Iterator[str]:
        """What nearly every entry leads to and is another."""
        for name, count in sorted(self._hubs.items()):
            place = self._after[name].place.path
            yield f"{_short(name)} of {place} is another; as {count} entries use it, it is told here alone"

    def _reached(self, entry: OperatorEntry) -> frozenset[str]:
        given = (*entry.samples.values(), *entry.others.values())
        return frozenset(way[-1] for one in given for root in one.names for way in self._from.get(root, ()))


def is_everybodys(entries: int, of: int) -> bool:
    """Whether what so many entries have in common is told once rather than of each."""
    return entries > max(_HUB_ENTRIES, _HUB_SHARE * of)


def _changed(before: Mapping[str, Definition], after: Mapping[str, Definition]) -> Iterator[tuple[str, Definition]]:
    """Pairs of a definition's name now and what it was; one that went to another file is found there."""
    moved: dict[str, list[Definition]] = {}
    for old in before.values():
        moved.setdefault(_short(old.name), []).append(old)
    for name, new in after.items():
        alike = moved.get(_short(name), [])
        known = before.get(name) or (alike[0] if len(alike) == 1 and alike[0].name not in after else None)
        if known is not None and known.digest != new.digest:
            yield name, known


def _ways(changed: Iterable[str], table: OperatorTable) -> dict[str, list[tuple[str, ...]]]:
    """By the definitions that lead to changed ones, the shortest way to each."""
    users: dict[str, list[str]] = {}
    for one in table.definitions.values():
        for used in one.uses:
            users.setdefault(used, []).append(one.name)
    found: dict[str, list[tuple[str, ...]]] = {}
    for name in changed:
        for start, way in _ways_to(name, users).items():
            found.setdefault(start, []).append(way)
    return found


def _ways_to(name: str, users: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """By each definition that leads to `name`, the shortest way there."""
    ways: dict[str, tuple[str, ...]] = {name: (name,)}
    waiting = [name]
    for current in waiting:
        for user in users.get(current, ()):
            if user not in ways:
                ways[user] = (user, *ways[current])
                waiting.append(user)
    return ways


def _short(name: str) -> str:
    """`sample_inputs_addmm` of `torch/....py:sample_inputs_addmm`."""
    inside = name.partition(":")[2]
    return inside or name.rpartition(".")[2]
