"""What a test reaches that is not its own text, and what of it another release has otherwise.

A test reaches the helpers that it calls, at any distance inside the tests and the harness; the fixtures of its class;
and the code under test that it or a helper names. Both trees are walked side by side: what a name means in the one is
compared with what it means in the other, wherever the two stand. The walk ends where something changed, since what lies
behind speaks for no more than that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from selector.change.symbols import is_private
from selector.upgrade.comparing.definitions import Definition, Kind
from selector.upgrade.comparing.grounds import FIXTURES, is_common_ground, is_harness, is_helping
from selector.upgrade.comparing.names import Names, Symbol
from selector.upgrade.comparing.written import WrittenTest
from selector.upgrade.types import TestChange

#: What using a class calls without saying so.
_IMPLIED = ("__init__", "__new__", "__call__", "__enter__", "__exit__", "forward", "backward")
#: Definitions that are looked at for one test.
_VISITED = 600
_OWN = frozenset({"self", "cls", "super"})
_Owners = tuple[Symbol | None, Symbol | None]


class Step(NamedTuple):
    """A definition in both trees, and the classes that `self` means there. `depth` counts the steps inside the
    library."""

    base: Symbol
    head: Symbol
    owners: _Owners = (None, None)
    depth: int = 0

    @property
    def kind(self) -> TestChange:
        """What a change of it is for the test that reaches it."""
        return TestChange.HELPER if is_helping(self.head.path) else TestChange.CODE


@dataclass(frozen=True, slots=True)
class Reached:
    """A definition that is another in the newer tree, and the names that lead there from the test."""

    step: Step
    before: Definition
    after: Definition
    chain: tuple[str, ...]


class Reaching:
    """Walks from tests. What one test has shown is kept for the others."""

    def __init__(self, base: Names, head: Names) -> None:
        self._names = (base, head)
        self._following: dict[Step, tuple[Step, ...]] = {}
        self._compared: dict[tuple[Symbol, Symbol], tuple[Definition, Definition] | None] = {}

    def changed(self, before: WrittenTest, after: WrittenTest, through: Collection[Symbol] = ()) -> Iterator[Reached]:
        """What a test reaches that changed, the nearest first; `through` are definitions that the walk goes on behind,
        whatever became of them."""
        owners = self._owner(0, before), self._owner(1, after)
        written = [Symbol(test.origin.file, test.origin.symbol) for test in (before, after)]
        first = dict.fromkeys((*self._next(Step(written[0], written[1], owners)), *self._fixtures(owners)))
        told = set[Symbol]()
        waiting = deque[tuple[Step, tuple[str, ...]]]((step, (step.head.name,)) for step in first)
        visited = set(first)
        while waiting:
            step, chain = waiting.popleft()
            both = self._both(step)
            if both is not None and _does_otherwise(*both) and step.head not in through:
                if step.head not in told:
                    told.add(step.head)
                    yield Reached(step, *both, chain)
            elif len(visited) < _VISITED:
                fresh = [one for one in self._next(step) if one not in visited]
                visited.update(fresh)
                waiting.extend((one, (*chain, one.head.name)) for one in fresh)

    def _owner(self, side: int, test: WrittenTest) -> Symbol | None:
        return self._names[side].lead(test.test.file, test.test.cls) if test.test.cls else None

    def _fixtures(self, owners: _Owners) -> Iterator[Step]:
        """Those of the tests; what the harness does around every test is no test's own."""
        found = (step for name in FIXTURES for step in self._member(name, owners))
        return (step for step in found if is_helping(step.head.path) and not is_harness(step.head.path))

    def _both(self, step: Step) -> tuple[Definition, Definition] | None:
        key = step[:2]
        if key not in self._compared:
            before, after = self._names[0].definition(step.base), self._names[1].definition(step.head)
            self._compared[key] = None if before is None or after is None else (before, after)
        return self._compared[key]

    def _next(self, step: Step) -> tuple[Step, ...]:
        if step not in self._following:
            found = (one for one in self._steps(step) if _is_followed(step, one))
            self._following[step] = tuple(dict.fromkeys(found))
        return self._following[step]

    def _steps(self, step: Step) -> Iterator[Step]:
        both = self._both(step)
        if both is None:
            return
        before, after = both
        for name in sorted({*before.uses, *after.uses}):
            yield from self._named(step, name)
        for name in sorted({*before.marks, *after.marks}):
            yield from (one for one in self._named(step, name) if not is_harness(one.head.path))
        if after.kind is Kind.CLASS and step.kind is TestChange.HELPER:
            yield from self._whole_class(step)

    def _named(self, step: Step, name: str) -> Iterator[Step]:
        root, _, rest = name.partition(".")
        if root in _OWN:
            first = rest.partition(".")[0] if rest or root != "cls" else "__init__"
            yield from self._inherited(step, first) if root == "super" else self._member(first, step.owners, step.depth)
            return
        base, head = self._names[0].lead(step.base.path, name), self._names[1].lead(step.head.path, name)
        if base is not None and head is not None:
            found = Step(base, head, (_owner_of(base), _owner_of(head)), self._depth(step, head))
            yield found
            yield from self._used_of_class(step, found)

    def _depth(self, step: Step, head: Symbol) -> int:
        inside = step.kind is TestChange.CODE and not is_helping(head.path)
        return step.depth + 1 if inside else 0

    def _used_of_class(self, step: Step, cls: Step) -> Iterator[Step]:
        """Of a class of the library what using it calls, and what is asked of anything where the class is named."""
        both, around = self._both(cls), self._both(step)
        if both is None or around is None or cls.kind is TestChange.HELPER or both[1].kind is not Kind.CLASS:
            return
        asked = {name for definition in around for name in definition.attributes}
        known = self._names[0].offered(cls.base) & self._names[1].offered(cls.head)
        for name in (*filter(known.__contains__, _IMPLIED), *sorted(asked.difference(_IMPLIED) & known)):
            yield from self._member(name, (cls.base, cls.head), cls.depth)

    def _member(self, name: str, owners: _Owners, depth: int = 0) -> Iterator[Step]:
        base = None if owners[0] is None else self._names[0].member(owners[0], name)
        head = None if owners[1] is None else self._names[1].member(owners[1], name)
        if base is not None and head is not None:
            yield Step(base, head, owners, depth)

    def _inherited(self, step: Step, name: str) -> Iterator[Step]:
        """What `super()` means in a method."""
        owners = step.owners
        if owners[0] is None or owners[1] is None:
            return
        base = self._names[0].member(owners[0], name, _owner_of(step.base))
        head = self._names[1].member(owners[1], name, _owner_of(step.head))
        if base is not None and head is not None:
            yield Step(base, head, owners, step.depth)

    def _whole_class(self, step: Step) -> Iterator[Step]:
        """All that a class of the tests and those it inherits from define."""
        lineages = self._names[0].lineage(step.base), self._names[1].lineage(step.head)
        members = {
            symbol.name.rpartition(".")[2]
            for names, lineage in zip(self._names, lineages, strict=True)
            for cls in lineage
            if is_helping(cls.path) and not is_harness(cls.path)
            for symbol in names.members(cls)
        }
        for name in sorted(members):
            yield from self._member(name, (step.base, step.head), step.depth)


def _does_otherwise(before: Definition, after: Definition) -> bool:
    return before.body != after.body or before.decoration != after.decoration


def _owner_of(symbol: Symbol) -> Symbol | None:
    around = symbol.name.rpartition(".")[0]
    return Symbol(symbol.path, around) if around else None


def _is_followed(step: Step, following: Step) -> bool:
    """From the library never back to the tests; inside it only to what a definition has beside it or inherits, and past
    a private one once more."""
    if is_common_ground(following.head):
        return False
    if step.kind is TestChange.HELPER:
        return True
    inherited = following.owners == step.owners and following.owners[1] is not None
    beside = following.kind is TestChange.CODE and (inherited or following.head.path == step.head.path)
    return beside and (following.depth <= 1 or (following.depth <= 2 and is_private(step.head.name)))
