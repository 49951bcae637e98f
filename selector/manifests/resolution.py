"""Tables of what the manifests say about collected tests, made outside any test process, and the trace of one row.

`resolve` and `trace` make the same decisions by the same code (`decision.py`), so an explanation cannot disagree with
what was run. Pure: no file, clock or environment is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cached_property

from selector.manifests.decision import (
    NOT_GOVERNED,
    NOT_IN_MANIFESTS,
    Choice,
    Contender,
    Outcome,
    Terms,
    choose,
    contenders,
    outcomes,
)
from selector.manifests.load import ManifestSet
from selector.manifests.models import is_model_file
from selector.manifests.profiles import Profile
from selector.manifests.rules import FileRules, Tolerance
from selector.manifests.variants import Variant, listed_op, variant_of
from selector.types import BaseTest, CollectedTest, Mode

#: What differs when a manifest is only written otherwise: no part of a table's digest.
_WHERE = ("entry", "provenance")
_WHY_NONE = {
    NOT_IN_MANIFESTS: "no manifest lists its file",
    NOT_GOVERNED: "the framework asks manifests about methods of test classes only, and this is a function",
}


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the manifests say about one collected test.

    `rule` is the vocabulary of `oot-manifests.md` section 8 and `not_in_manifests`, `not_governed`, `expired`; `entry`
    the number of the entry in its file block, `provenance` its `manifest.yaml:line` or that of the block or operator
    that decided. `isolate` and `timeout_s` (seconds) are the entry's wishes, for a runner to obey.
    """

    id: str
    mode: Mode
    rule: str
    entry: int | None = None
    tags: tuple[str, ...] = ()
    provenance: str = ""
    tolerance: Tolerance | None = None
    reason: str = ""
    issue: str = ""
    owner: str = ""
    expires: date | None = None
    isolate: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True)
class Table:
    """One row for each test, in the order of the tests."""

    rows: tuple[Resolution, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Resolution]:
        """The rows by test id."""
        return {row.id: row for row in self.rows}

    @cached_property
    def digest(self) -> str:
        """SHA-256 over what the rows say, in the order of ids. It is equal for manifests that are written in different
        ways and mean the same for these tests: places in files have no part in it.
        """
        digest = hashlib.sha256()
        for row in sorted(self.rows, key=lambda row: row.id):
            said = {name: value for name, value in asdict(row).items() if name not in _WHERE}
            digest.update(json.dumps(said, default=str, sort_keys=True).encode() + b"\n")
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Check:
    """A check that was made: the rule it stands for, the values it compared, and whether it decided."""

    name: str
    value: str
    hit: bool


@dataclass(frozen=True, slots=True)
class TraceCandidate:
    """A name in a manifest that fits the base method. `dtypes` None: its entry is chosen for any dtype.

    `left_out` says why the entry does not compete (its class or platform), empty when it does.
    """

    provenance: str
    entry: int
    name: str
    mode: Mode
    dtypes: frozenset[str] | None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How one row came about. `op` and `dtype` are what the profile took the test for, empty for none."""

    test: CollectedTest
    profile: Profile
    op: str
    dtype: str
    candidates: tuple[TraceCandidate, ...]
    chosen: TraceCandidate | None
    why_chosen: str
    checks: tuple[Check, ...]
    resolution: Resolution


def resolve(
    manifests: ManifestSet,
    tests: Sequence[CollectedTest],
    *,
    profile: Profile,
    device: str,
    test_type: str = "",
    platform: str = "",
    overdue: date | None = None,
) -> Table:
    """A row for each test.

    `tests` has to hold all variants of a base test: the operator allow-list is not applied to a test of which it
    would leave nothing. `CollectedTest.op` is the operator's registry name, with its variant where there is one.
    `device` is the word in generated names; `test_type` is compared with labels of entries and `platform` (a machine
    architecture) with their `platforms`, unless empty. `overdue` is a day, usually today: in the strict profile,
    `skip` and `xfail` of entries that expired before it become `mandatory_success`.
    """
    judge = _Judge(manifests, tests, Terms(profile, device, test_type, platform, overdue))
    return Table(tuple(judge.row(test) for test in tests))


def trace(
    manifests: ManifestSet,
    test: CollectedTest,
    *,
    profile: Profile,
    device: str,
    test_type: str = "",
    platform: str = "",
    overdue: date | None = None,
    tests: Iterable[CollectedTest] = (),
) -> Trace:
    """How the row of `test` comes about. `tests` holds the other variants of its base test, where they are known; the
    rest is as in `resolve`.
    """
    return _Judge(manifests, [test, *tests], Terms(profile, device, test_type, platform, overdue)).trace(test)


@dataclass
class _Judge:
    """Decides about tests of one collection."""

    manifests: ManifestSet
    tests: Sequence[CollectedTest]
    terms: Terms
    _found: dict[BaseTest, tuple[Contender, ...]] = field(default_factory=dict, init=False)

    @cached_property
    def _allow_listed(self) -> frozenset[BaseTest]:
        """Base tests with at least one operator on the allow-list of their file."""
        return frozenset(
            test.base_test
            for test in self.tests
            if (rules := self.manifests.rules(test.file)) and rules.device.ops and listed_op(test.op, rules.device.ops)
        )

    def row(self, test: CollectedTest) -> Resolution:
        rules = self.manifests.rules(test.file)
        if rules is None or self._is_ungoverned(test):
            return _without_entry(test, rules)
        variant, choice = self._chosen(test, rules)
        return _row(test, rules, variant, choice, next(one for one in self._outcomes(test, rules) if one.step.hit))

    def trace(self, test: CollectedTest) -> Trace:
        rules, profile = self.manifests.rules(test.file), self.terms.profile
        variant = variant_of(test, self._terms(test).profile, self.terms.device)
        op, dtype = variant.op or "", variant.dtype if variant.dtypes else ""
        if rules is None or self._is_ungoverned(test):
            row = _without_entry(test, rules)
            return Trace(test, profile, op, dtype, (), None, _WHY_NONE[row.rule], (), row)
        _, choice = self._chosen(test, rules)
        candidates = tuple(map(_shown, choice.contenders))
        pairs = zip(choice.contenders, candidates, strict=True)
        chosen = next((shown for one, shown in pairs if not one.left_out and one.entry == choice.entry), None)
        checks: list[Check] = []
        for outcome in self._outcomes(test, rules):
            checks.append(Check(outcome.step.rule, outcome.step.values(), outcome.step.hit))
            if outcome.step.hit:
                break
        return Trace(test, profile, op, dtype, candidates, chosen, choice.why, tuple(checks), self.row(test))

    def _is_ungoverned(self, test: CollectedTest) -> bool:
        """The framework is asked about methods of classes only (2.2). Which classes it never sees, no id tells."""
        return self._terms(test).profile is Profile.COMPAT and not test.cls

    def _terms(self, test: CollectedTest) -> Terms:
        """Of a model's tests the framework knows nothing: they are what the manifest says in either profile."""
        return replace(self.terms, profile=Profile.STRICT) if is_model_file(test.file) else self.terms

    def _chosen(self, test: CollectedTest, rules: FileRules) -> tuple[Variant, Choice]:
        if (found := self._found.get(test.base_test)) is None:
            found = self._found[test.base_test] = contenders(test, rules, self._terms(test))
        variant = variant_of(test, self._terms(test).profile, self.terms.device)
        return variant, choose(found, variant)

    def _outcomes(self, test: CollectedTest, rules: FileRules) -> Iterator[Outcome]:
        variant, choice = self._chosen(test, rules)
        allow_listed = test.base_test in self._allow_listed
        return outcomes(test, rules, choice, variant, self._terms(test), allow_listed=allow_listed)


def _without_entry(test: CollectedTest, rules: FileRules | None) -> Resolution:
    if rules is None:
        return Resolution(test.id, Mode.SKIP, NOT_IN_MANIFESTS)
    return Resolution(test.id, Mode.MANDATORY_SUCCESS, NOT_GOVERNED, provenance=rules.provenance)


def _row(test: CollectedTest, rules: FileRules, variant: Variant, choice: Choice, outcome: Outcome) -> Resolution:
    entry, rule = outcome.entry, outcome.step.rule
    runs = outcome.mode is not Mode.SKIP
    tolerance = _tolerance(test, rules, variant, choice) if runs else None
    if entry is None:
        return Resolution(test.id, outcome.mode, rule, provenance=outcome.provenance, tolerance=tolerance)
    said = entry.remarks
    return Resolution(
        test.id,
        outcome.mode,
        rule,
        entry.index,
        entry.tags if runs else (),
        outcome.provenance,
        tolerance,
        said.reason,
        said.issue,
        said.owner,
        said.expires,
        entry.isolate,
        entry.timeout_s,
    )


def _tolerance(test: CollectedTest, rules: FileRules, variant: Variant, choice: Choice) -> Tolerance | None:
    """An entry's precision for the dtype, the last of all that list the test, then the global one, then the operator's
    (`oot-manifests.md` 1.7)."""
    for dtype in variant.dtypes:
        for source in (*(entry.tolerances for entry in reversed(choice.competing)), rules.device.tolerances):
            if dtype in source:
                return source[dtype]
    ops = rules.device.ops or {}
    name = listed_op(test.op, ops)
    return ops[name].tolerance if name is not None else None


def _shown(one: Contender) -> TraceCandidate:
    entry = one.entry
    return TraceCandidate(entry.provenance, entry.index, one.name.text, entry.mode, one.dtypes, one.left_out)
