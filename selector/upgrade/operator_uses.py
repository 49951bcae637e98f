"""Which functions that entries lead to are others than before, and from which arguments they are reached.

A definition that came or went is no difference of its own: whatever uses it says so and differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from selector.upgrade.operator_table import Argument, Definition, OperatorTable
from selector.upgrade.types import Evidence, TestChange

#: Entries, and share of all, from which on a definition is everybody's and told once.
_HUB_ENTRIES = 100
_HUB_SHARE = 0.25
_SHOWN = 10


class ChangedUses:
    """The changed definitions of the newer of two tables."""

    def __init__(self, before: OperatorTable, after: OperatorTable) -> None:
        self._after = after.definitions
        self._changed = dict(_changed(before.definitions, after.definitions))
        self._ways = {name: _ways_to(name, users) for users in [_users(after)] for name in self._changed}
        counts = self._counts(after)
        limit = max(_HUB_ENTRIES, _HUB_SHARE * len(after.entries))
        self._hubs = {name: counts[name] for name in self._changed if counts[name] > limit}

    def of(self, arguments: Mapping[str, Argument]) -> Iterator[Evidence]:
        """The changed definitions that arguments lead to, the nearest first; those that everybody uses left out."""
        ways = {
            name: way
            for argument, given in arguments.items()
            for name in self._changed.keys() - self._hubs.keys()
            if (way := self._way(argument, given, name))
        }
        for name, way in sorted(ways.items(), key=lambda pair: (len(pair[1]), pair[0]))[:_SHOWN]:
            old, new = self._changed[name], self._after[name]
            text = f"{_short(name)} is another" + (f", used by {way[-2]}" if len(way) > 2 else "")
            yield Evidence(TestChange.HELPER, _short(name), text, old.place, new.place, way)

    def notes(self) -> Iterator[str]:
        """What nearly every entry leads to and is another."""
        for name, count in sorted(self._hubs.items()):
            place = self._after[name].place.path
            yield f"{_short(name)} of {place} is another; as {count} entries use it, it is told here alone"

    def _way(self, argument: str, given: Argument, name: str) -> tuple[str, ...]:
        """From an argument to a definition, both named; empty: it does not lead there."""
        found = [way for root in given.names if (way := self._ways[name].get(root))]
        nearest: tuple[str, ...] = min(found, key=len, default=())
        return (argument, *map(_short, nearest)) if nearest else ()

    def _counts(self, after: OperatorTable) -> dict[str, int]:
        roots = [
            {name for one in (*entry.samples.values(), *entry.others.values()) for name in one.names}
            for entry in after.entries.values()
        ]
        return {name: sum(not way.keys().isdisjoint(said) for said in roots) for name, way in self._ways.items()}


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


def _users(table: OperatorTable) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    for one in table.definitions.values():
        for used in one.uses:
            users.setdefault(used, []).append(one.name)
    return users


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
