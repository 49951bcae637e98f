"""One test against the manifests: which entry counts, which checks are made in which order, and what comes of it.

The order is the framework's (`oot-manifests.md` 2.3 to 2.6) in both profiles; they differ in what a test is taken for
(`variants.py`) and in whether class names count. `resolution.py` makes tables of these decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from selector.manifests.extensions import is_for_platform
from selector.manifests.profiles import Profile
from selector.manifests.rules import DeviceRules, EntryName, EntryRules, FileRules
from selector.manifests.variants import Variant, listed_op
from selector.types import CollectedTest, Mode

#: The rule of a test whose file no manifest lists; such a test has no provenance.
NOT_IN_MANIFESTS = "not_in_manifests"
#: The rule of a test that the framework never asks a manifest about, so that it runs as it is.
NOT_GOVERNED = "not_governed"
#: The rule of a test whose excuse has run out.
EXPIRED = "expired"
#: Longer lists of names are cut where values of a check are shown.
SHOWN_NAMES = 12


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms tests are judged. An empty test type or platform is compared with nothing.

    `device` is the word in generated names. `overdue` is a day: in the strict profile an entry that expired before it
    excuses nothing any more.
    """

    profile: Profile
    device: str
    test_type: str = ""
    platform: str = ""
    overdue: date | None = None


@dataclass(frozen=True, slots=True)
class Contender:
    """A name that fits the base method. `left_out` says why its entry does not compete, empty when it does.

    `dtypes` is the set the entry is chosen by, None for any dtype.
    """

    name: EntryName
    dtypes: frozenset[str] | None
    left_out: str = ""

    @property
    def entry(self) -> EntryRules:
        return self.name.entry


@dataclass(frozen=True, slots=True)
class Choice:
    """The entry that counts for a variant, None when none does, and why it and no other."""

    contenders: tuple[Contender, ...]
    entry: EntryRules | None
    why: str

    @property
    def competing(self) -> tuple[EntryRules, ...]:
        return tuple(one.entry for one in self.contenders if not one.left_out)


@dataclass(frozen=True, slots=True)
class Step:
    """One check in its turn: its rule, whether it hit, and on demand the values it compared."""

    rule: str
    hit: bool
    values: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A step and what follows if it hits. `entry` None: none is answerable for it."""

    step: Step
    mode: Mode
    provenance: str
    entry: EntryRules | None = None


def contenders(test: CollectedTest, rules: FileRules, terms: Terms) -> tuple[Contender, ...]:
    """Every name that fits, in order of precedence; an entry that competes does so once."""
    seen: set[EntryRules] = set()
    found: list[Contender] = []
    for name in rules.matches(test.base):
        left_out = _left_out(name, test, terms)
        if not left_out and name.entry in seen:
            continue
        if not left_out:
            seen.add(name.entry)
        found.append(Contender(name, name.entry.included or rules.device.ceiling, left_out))
    return tuple(found)


def _left_out(name: EntryName, test: CollectedTest, terms: Terms) -> str:
    if terms.profile is Profile.STRICT and not name.is_for_class(test.cls):
        return f"it is for another class than {test.cls or 'none'}"
    if not is_for_platform(name.entry.platforms, terms.platform):
        return f"it is for {', '.join(name.entry.platforms)}, not for {terms.platform}"
    return ""


def choose(found: tuple[Contender, ...], variant: Variant) -> Choice:
    """The one entry whose mode, tags, labels and exclusions hold for a variant (2.3)."""
    competing = [one for one in found if not one.left_out]
    if not competing:
        return Choice(found, None, "no entry lists it")
    first = competing[0]
    if len(competing) == 1:
        return Choice(found, first.entry, "the only entry that lists it, whatever its dtypes")
    with_dtype = (one for one in competing if one.dtypes is not None and not variant.outside(one.dtypes))
    unrestricted = (one for one in competing if one.dtypes is None)
    if variant.dtypes and (chosen := next(with_dtype, None)):
        return Choice(found, chosen.entry, f"the first of {len(competing)} whose dtypes hold {variant.dtype}")
    if chosen := next(unrestricted, None):
        return Choice(found, chosen.entry, f"the first of {len(competing)} that takes every dtype")
    why = f"the first of {len(competing)}, as the dtypes of none of them hold {variant.dtype}"
    return Choice(found, first.entry, why if variant.dtypes else f"the first of {len(competing)}, for want of a dtype")


def outcomes(
    test: CollectedTest, rules: FileRules, choice: Choice, variant: Variant, terms: Terms, *, allow_listed: bool
) -> Iterator[Outcome]:
    """The checks in order; the first hit decides and the last one always hits.

    `allow_listed`: some variant of the base test is on the operator allow-list, which else is not applied to it (2.6).
    """
    if allow_listed:
        yield from _generation(test, rules.device, choice)
    entry = choice.entry
    place = entry.provenance if entry else rules.provenance
    for step in _removals(variant, entry, rules.device, terms):
        yield Outcome(step, Mode.SKIP, place, entry)
    rule, mode = ("listed", entry.mode) if entry else ("unlisted", rules.unlisted)
    if entry and mode is not Mode.MANDATORY_SUCCESS and _is_overdue(entry, terms):
        rule, mode = EXPIRED, Mode.MANDATORY_SUCCESS
    if mode is Mode.MANDATORY_SUCCESS:
        for step in _forced(variant, rules.device):
            yield Outcome(step, Mode.XFAIL, place, entry)
    yield Outcome(Step(rule, True, lambda: f"mode {mode}"), mode, place, entry)


def _generation(test: CollectedTest, device: DeviceRules, choice: Choice) -> Iterator[Outcome]:
    """What the operator allow-list keeps from being generated at all (2.6): no entry has a say."""
    if device.ops is None or test.op is None:
        return
    ops, name = device.ops, listed_op(test.op, device.ops)
    step = Step("op_not_supported", name is None, lambda: f"operator {test.op}, supported {_listing(ops)}")
    yield Outcome(step, Mode.SKIP, device.ops_provenance)
    if name is None or not (op := ops[name]).dtypes:
        return
    allowed = op.dtypes.union(*(entry.included for entry in choice.competing))
    narrowed = test.dtype is not None and test.dtype not in allowed
    step = Step("op_dtype_narrowed", narrowed, lambda: f"dtype {test.dtype or '-'}, {name} has {_listing(allowed)}")
    yield Outcome(step, Mode.SKIP, op.provenance)


def _removals(variant: Variant, entry: EntryRules | None, device: DeviceRules, terms: Terms) -> Iterator[Step]:
    """Checks 1 to 4 of 2.4: what takes a variant away whatever its mode."""
    tier, ceiling = terms.test_type, device.ceiling
    if entry and entry.labels:
        hit = bool(tier) and not tier.startswith("suite_") and tier not in entry.labels
        yield Step("label_mismatch", hit, lambda: f"test type {tier or '-'}, labels {_listing(entry.labels)}")
    if entry and (excluded := entry.excluded_dtypes):
        hit = variant.has_one_of(excluded)
        yield Step("dtype_excluded", hit, lambda: f"dtype {variant.dtype}, excluded {_listing(excluded)}")
    if ceiling is not None:
        included = entry.included if entry else frozenset[str]()
        hit = variant.outside(ceiling, included)
        yield Step("dtype_unsupported", hit, lambda: f"dtype {variant.dtype}, supported {_listing(ceiling | included)}")
    if entry and (ops := entry.excluded_ops):
        hit = any(variant.is_excluded_by(name) for name in ops)
        yield Step("op_excluded", hit, lambda: f"operator {variant.op or '-'}, excluded {_listing(ops)}")


def _forced(variant: Variant, device: DeviceRules) -> Iterator[Step]:
    """Checks 5 and 6 of 2.4: they weaken nothing but `mandatory_success`."""
    if ops := device.xfail_ops:
        yield Step(
            "force_xfail_op", variant.has_op(ops), lambda: f"operator {variant.op or '-'}, forced {_listing(ops)}"
        )
    if dtypes := device.xfail_dtypes:
        hit = variant.has_one_of(dtypes)
        yield Step("force_xfail_dtype", hit, lambda: f"dtype {variant.dtype}, forced {_listing(dtypes)}")


def _is_overdue(entry: EntryRules, terms: Terms) -> bool:
    if terms.profile is not Profile.STRICT or terms.overdue is None or entry.remarks.expires is None:
        return False
    return entry.remarks.expires < terms.overdue


def _listing(names: Iterable[str]) -> str:
    """The names in order, the first few of many."""
    ordered = sorted(names)
    rest = len(ordered) - SHOWN_NAMES
    return ", ".join(ordered[:SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")
