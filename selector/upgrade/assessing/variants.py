"""The generated tests of a base test on the device, counted from the text: by operators, dtypes and what the manifests
let through.

Numbers are estimates of what a collection would find. What a list leaves out by a condition and what a test is
parametrized with is not evaluated, so a test counts with all operators of its list, and once for all its parameters;
where it has parameters, the number of its variants is not told. What the manifests let through is asked of the code
that decides it for runs (`selector.manifests.resolve`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from selector.catalog import CatalogTest
from selector.manifests import ManifestSet, Profile, resolve
from selector.types import BaseTest, CollectedTest, Mode
from selector.upgrade.assessing.governing import Ruling
from selector.upgrade.assessing.marking import is_parametrized, runs_elsewhere_only, spelt_dtypes
from selector.upgrade.assessing.side import Side

#: Of `OpDTypes`: one variant of an operator, whatever its dtypes.
_ONE = frozenset({"none", "any_one", "any_common_cpu_cuda_one"})
_UNKNOWN_DTYPES = frozenset({"float32"})


@dataclass(frozen=True, slots=True)
class Made:
    """One generated test. `op` and `dtype` are empty where nothing of the kind generates it."""

    op: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """Variants that the manifests let run, with the place in a manifest that governs each. `is_exact` False: there are
    as many or more, for parameters are not counted."""

    places: Mapping[Made, str]
    is_exact: bool

    @property
    def is_none(self) -> bool:
        """Whether there is none. A test with parameters has one at least where it has any."""
        return not self.places

    def count(self, place: str) -> int | None:
        """Those that a place governs, `None` where the text does not tell."""
        return sum(found == place for found in self.places.values()) if self.is_exact else None


NONE_ADMITTED = Admitted({}, is_exact=True)


class Variants:
    """The variants of tests of one tree."""

    def __init__(self, side: Side, manifests: ManifestSet | None, device: str) -> None:
        self._side = side
        self._manifests = manifests
        self._device = device
        self._totals: dict[tuple[object, ...], int] = {}

    def total(self, entry: CatalogTest) -> int:
        """How many there are at least, whatever the manifests say; none where the device is left out."""
        if runs_elsewhere_only(entry):
            return 0
        names = tuple((mark.name, mark.names) for mark in entry.marks)
        if (known := self._totals.get(names)) is None:
            known = self._totals[names] = sum(1 for _ in self._made(entry))
        return known

    def is_kept_out(self, test: BaseTest) -> bool:
        """Whether the tree has no variant of it on the device, whatever manifests say."""
        entry = self._side.tests.get(test)
        return entry is None or runs_elsewhere_only(entry)

    def admitted(self, test: BaseTest, ruling: Ruling) -> Admitted:
        """Those that may run under the manifests."""
        entry = self._side.tests.get(test)
        if entry is None or self._manifests is None or not ruling.runs or runs_elsewhere_only(entry):
            return NONE_ADMITTED
        wanted = _dtypes_let_through(ruling)
        made = [one for one in self._made(entry) if not wanted or one.dtype in wanted]
        tests = [self._collected(entry, one) for one in made]
        rows = resolve(self._manifests, tests, profile=Profile.COMPAT, device=self._device).rows
        pairs = zip(made, rows, strict=True)
        places = {one: row.provenance for one, row in pairs if row.mode is not Mode.SKIP}
        return Admitted(places, not is_parametrized(entry))

    def _made(self, entry: CatalogTest) -> Iterator[Made]:
        operators = self._side.operators_of(entry)
        spelt = spelt_dtypes(entry)
        if operators is None:
            yield from (Made("", dtype) for dtype in spelt or ("",))
            return
        one = any(mark.name == "ops" and not _ONE.isdisjoint(mark.names) for mark in entry.marks)
        for name in operators:
            if one:
                yield Made(name, "")
                continue
            dtypes = self._side.operators.entries[name].dtypes or _UNKNOWN_DTYPES
            yield from (Made(name, dtype) for dtype in sorted(dtypes.intersection(spelt) if spelt else dtypes))

    def _collected(self, entry: CatalogTest, made: Made) -> CollectedTest:
        """As the framework would name it: manifests are matched with names."""
        test = entry.test
        device = self._device if self._side.is_generic(test, self._device) else ""
        parts = [test.name, made.op.replace(".", "_"), device, made.dtype]
        method = "_".join(filter(None, parts))
        where = "::".join(filter(None, (test.file, test.cls, method)))
        op, dtype = made.op or None, made.dtype or None
        return CollectedTest(where, test.file, test.cls, test.name, method, op, dtype)


def _dtypes_let_through(ruling: Ruling) -> frozenset[str]:
    """Dtypes outside of these are refused whatever else holds, so there is no need to ask about each; none: all may be
    let through. A variant without a dtype always may."""
    ceiling = ruling.rules.device.ceiling if ruling.rules is not None else None
    return ceiling.union({""}, *(name.entry.included for name in ruling.names)) if ceiling is not None else frozenset()
