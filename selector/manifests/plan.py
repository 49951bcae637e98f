"""Stage 4 on collected tests: what the manifests expect of each of them, and by which rule.

Follows the framework's order of checks (`oot-manifests.md` 2.3 to 2.6). Class names play no part. Where the test's
generator told the operator and the dtype, they are used; else they are read out of the method name, as there.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from selector.manifests.dtypes import dtype_in_name, op_in_name
from selector.manifests.load import ManifestSet
from selector.manifests.rules import DeviceRules, EntryRules, FileRules
from selector.types import BaseTest, CollectedTest, Expectation, Mode, PlannedTest

#: The rule of a test whose file no manifest lists; such a test has no provenance.
NOT_IN_MANIFESTS = "not_in_manifests"


def plan(
    collected: Sequence[CollectedTest], manifests: ManifestSet, device: str, tier: str = ""
) -> tuple[PlannedTest, ...]:
    """One planned test for each collected one, in the same order; `Mode.SKIP` means filtered.

    `collected` has to hold all variants of a base test: the operator allow-list is not applied to a test of which it
    would leave nothing. `CollectedTest.op` is the operator's registry name, with its variant where there is one
    (`nn.functional.gelu`, `div.floor_rounding`). `device` is the word in generated names; `tier` the test type that
    the labels of entries are compared with, empty for any.
    """
    narrowed = _allow_listed(collected, manifests)
    return tuple(
        PlannedTest(test, _expectation(test, manifests.rules(test.file), device, tier, test.base_test in narrowed))
        for test in collected
    )


def _allow_listed(collected: Sequence[CollectedTest], manifests: ManifestSet) -> frozenset[BaseTest]:
    """Base tests with at least one operator on the allow-list of their file."""
    return frozenset(
        test.base_test
        for test in collected
        if (rules := manifests.rules(test.file)) and rules.device.ops and _on_list(test.op, rules.device.ops)
    )


def _expectation(
    test: CollectedTest, rules: FileRules | None, device: str, tier: str, allow_listed: bool
) -> Expectation:
    if rules is None:
        return Expectation(Mode.SKIP, NOT_IN_MANIFESTS, "")
    variant = _variant(test, device)
    candidates = rules.candidates(test.base)
    entry = _select(candidates, variant.dtype, rules.device.ceiling)
    provenance = entry.provenance if entry else rules.provenance
    removal = (allow_listed and _never_generated(test, candidates, rules.device)) or _removal(
        variant, entry, rules.device, tier
    )
    if removal:
        return Expectation(Mode.SKIP, removal, provenance)
    mode, rule = _mode(variant, entry, rules)
    return Expectation(mode, rule, provenance, entry.tags if entry and mode is not Mode.SKIP else ())


@dataclass(frozen=True, slots=True)
class _Variant:
    """Operator and dtype of a generated test. `told` says that the operator is the registry name, not a flat one."""

    op: str | None
    dtype: str | None
    told: bool

    def has_op(self, names: frozenset[str]) -> bool:
        return self.op is not None and self.op in names

    def is_excluded_by(self, name: str) -> bool:
        """Exclusion takes variants with it: `add` excludes `add` and `add_decomposed`.

        A name read from a method is flat, so a dotted name never equals it; a told one is compared flat with flat.
        """
        if self.op is None:
            return False
        op, name = (_flat(self.op), _flat(name)) if self.told else (self.op, name)
        return op == name or op.startswith(f"{name}_")


def _variant(test: CollectedTest, device: str) -> _Variant:
    op = test.op if test.op is not None else op_in_name(test.method, test.base, device)
    dtype = test.dtype if test.dtype is not None else dtype_in_name(test.method)
    return _Variant(op, dtype, told=test.op is not None)


def _select(candidates: Sequence[EntryRules], dtype: str | None, ceiling: frozenset[str] | None) -> EntryRules | None:
    """The one entry whose mode, tags, labels and exclusions hold for a variant (2.3)."""
    if len(candidates) <= 1:
        return candidates[0] if candidates else None
    sets = [(entry, entry.included or ceiling) for entry in candidates]
    with_dtype = (entry for entry, dtypes in sets if dtype is not None and dtypes is not None and dtype in dtypes)
    unrestricted = (entry for entry, dtypes in sets if dtypes is None)
    return next(with_dtype, None) or next(unrestricted, None) or candidates[0]


def _never_generated(test: CollectedTest, candidates: Sequence[EntryRules], device: DeviceRules) -> str:
    """What the operator allow-list keeps from being generated at all (2.6)."""
    if device.ops is None or test.op is None:
        return ""
    name = _on_list(test.op, device.ops)
    if name is None:
        return "op_not_supported"
    dtypes = device.ops[name]
    added: frozenset[str] = frozenset().union(*(entry.included for entry in candidates))
    if dtypes and test.dtype is not None and test.dtype not in dtypes | added:
        return "op_dtype_narrowed"
    return ""


def _on_list(op: str | None, names: Container[str]) -> str | None:
    """The listed name that stands for an operator: its own, or the one without the variant, which the list ignores."""
    if op is None or op in names:
        return op
    plain = op.rpartition(".")[0]
    return plain if plain in names else None


def _removal(variant: _Variant, entry: EntryRules | None, device: DeviceRules, tier: str) -> str:
    """Checks 1 to 4 of 2.4: why a variant is taken away whatever its mode; empty when it stays."""
    if entry and entry.labels and tier and not tier.startswith("suite_") and tier not in entry.labels:
        return "label_mismatch"
    if entry and variant.dtype in entry.excluded_dtypes:
        return "dtype_excluded"
    if variant.dtype is not None and not _supported(variant.dtype, entry, device):
        return "dtype_unsupported"
    if entry and any(variant.is_excluded_by(name) for name in entry.excluded_ops):
        return "op_excluded"
    return ""


def _supported(dtype: str, entry: EntryRules | None, device: DeviceRules) -> bool:
    return device.ceiling is None or dtype in device.ceiling or (entry is not None and dtype in entry.included)


def _mode(variant: _Variant, entry: EntryRules | None, rules: FileRules) -> tuple[Mode, str]:
    """Checks 5 to 7 of 2.4: forced xfail weakens nothing but `mandatory_success`."""
    mode, rule = (entry.mode, "listed") if entry else (rules.unlisted, "unlisted")
    if mode is Mode.MANDATORY_SUCCESS and variant.has_op(rules.device.xfail_ops):
        return Mode.XFAIL, "force_xfail_op"
    if mode is Mode.MANDATORY_SUCCESS and variant.dtype in rules.device.xfail_dtypes:
        return Mode.XFAIL, "force_xfail_dtype"
    return mode, rule


def _flat(name: str) -> str:
    return name.replace(".", "_")
