"""Upstream's databases of operators in one tree, as values: what tests are generated from, and with which dtypes.

Frozen, and made of plain values, so that a table can be kept and compared. Nothing here reads a tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from selector.upgrade.types import Place


@dataclass(frozen=True, slots=True, order=True)
class Decorator:
    """One decorator of generated tests, a skip being one too. `digest` is equal for equal ones; `text` is what a person
    reads; `test` the class and name of the tests it is for (empty: all), `devices` those it is for (empty: all)."""

    digest: str
    text: str
    test: str = ""
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """What an entry is given: `digest` is a short plain value itself, or `@` and a digest; `names` are the definitions
    in the tree that it names."""

    digest: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """One entry. `name` is as tests name it, the variant after a dot; `kind` its class, empty where not even that is
    known. The dtypes are those of a device that is none of upstream's own; `None`: the text does not tell. `samples`
    are the arguments that make inputs, by name, those that the entry's class gives included; `others` the rest."""

    name: str
    kind: str
    place: Place
    dtypes: frozenset[str] | None
    backward_dtypes: frozenset[str] | None
    decorators: tuple[Decorator, ...] = ()
    samples: Mapping[str, Argument] = field(default_factory=dict)
    others: Mapping[str, Argument] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or value of the test library: `name` is `path:name`; `uses` are the names of those it uses."""

    name: str
    digest: str
    place: Place
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorTable:
    """All entries by name, in upstream's order; the lists that tests are generated from (`op_db`, `unary_ufuncs`) with
    the names of their entries; the definitions that entries reach; and what could not be read off the text."""

    entries: Mapping[str, OperatorEntry] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
