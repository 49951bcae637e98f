"""What changed around tests, as evidence: the helpers and the code that each reaches, and what they all stand on.

Owns the cut between the two: what tests of very many files have in common of the harness is told once, as a note.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from selector.types import BaseTest
from selector.upgrade.comparing.definitions import Definition, Kind
from selector.upgrade.comparing.grounds import HARNESS_FILES, is_harness, is_scenery
from selector.upgrade.comparing.matching import Match
from selector.upgrade.comparing.names import Names, Symbol
from selector.upgrade.comparing.native import NativeChanges
from selector.upgrade.comparing.reaching import Reached, Reaching
from selector.upgrade.comparing.written import Release
from selector.upgrade.types import Evidence, Place, TestChange

#: Of each kind for one test; the nearest say enough.
_SHOWN = 3
_NAMED = 6


class Surroundings:
    """Walks from every pair of tests at once, because only all of them show what all have in common."""

    def __init__(self, base: Release, head: Release, pairs: Sequence[Match], native: NativeChanges) -> None:
        self._releases = (base, head)
        self._native = native
        self._names = Names(head.files)
        self._reaching = Reaching(Names(base.files), self._names)
        self._reached: dict[BaseTest, tuple[Reached, ...]] = {}
        self._common: dict[Symbol, int] = {}
        self._walk(pairs)

    def _walk(self, pairs: Sequence[Match]) -> None:
        """Walk from all tests, and once more from those that reach what turns out to be common, to see what is behind:
        until nothing new is, which is soon, since there is only so much that so many have in common."""
        while pairs:
            for match in pairs:
                found = self._reaching.changed(match.before, match.after, self._common)
                self._reached[match.after.test] = tuple(found)
            fresh = self._in_common()
            self._common |= fresh
            pairs = [match for match in pairs if any(one.step.head in fresh for one in self._reached[match.after.test])]

    def of(self, match: Match) -> Iterator[Evidence]:
        """What speaks for a change of a test's helpers, then of the code it is about."""
        for kind in (TestChange.HELPER, TestChange.CODE):
            own = [reached for reached in self._reached[match.after.test] if reached.step.kind is kind]
            yield from map(_evidence, own[:_SHOWN])
        definition = match.after.definition
        if definition is not None:
            said = [self._names.dotted(match.after.origin.file, name) for name in definition.uses]
            yield from list(self._native.of(said))[:_SHOWN]

    def notes(self) -> tuple[str, ...]:
        """What changed that is told for no single test."""
        notes = [
            f"{symbol.path}: {symbol.name} changed, which tests of {files} files use"
            for symbol, files in sorted(self._common.items(), key=lambda common: (-common[1], common[0]))
        ]
        return (*notes, *self._grounds())

    def _in_common(self) -> dict[Symbol, int]:
        users = defaultdict[Symbol, set[str]](set)
        for test, found in self._reached.items():
            for reached in found:
                if is_harness(reached.step.head.path):
                    users[reached.step.head].add(test.file)
        return {symbol: len(files) for symbol, files in users.items() if len(files) > HARNESS_FILES}

    def _grounds(self) -> Iterator[str]:
        """Files that set the scene for every test, and what of them changed."""
        base, head = self._releases
        for path in sorted(filter(is_scenery, base.files.keys() & head.files.keys())):
            before, after = base.files[path].definitions, head.files[path].definitions
            changed = [name for name in after if name in before and before[name].body != after[name].body]
            if changed:
                more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
                yield f"{path}, on which tests of anything stand: {', '.join(changed[:_NAMED])}{more} changed"


def _evidence(reached: Reached) -> Evidence:
    step, after = reached.step, reached.after
    what = "the class itself" if after.kind is Kind.CLASS else "it"
    return Evidence(
        step.kind,
        step.head.name,
        f"{what} does something else" if reached.before.body != after.body else "other decorators",
        _place(step.base, reached.before),
        _place(step.head, after),
        reached.chain,
    )


def _place(symbol: Symbol, definition: Definition) -> Place:
    return Place(symbol.path, definition.line, definition.end_line)
