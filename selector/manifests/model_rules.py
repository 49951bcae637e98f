"""What a manifest says about one model, as the matcher and the worker use it: its check, and rules about its tests.

The rules are those of a file block whose tests are the comparisons, so that everything that decides about tests of
upstream decides about models by the same code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from selector.manifests.document import Path
from selector.manifests.model_schema import ComparisonSpec, ModelSpec, ModelUses
from selector.manifests.models import (
    TOLERANCES,
    Comparison,
    DtypeTolerance,
    ModelCheck,
    ModelInput,
    TransformersModel,
)
from selector.manifests.precision import DtypeItem
from selector.manifests.rules import DeviceRules, EntryName, EntryRules, FileRules, Remarks, Tolerance
from selector.types import CollectedTest, Mode

MODELS: Path = ("test_suite_config", "models")


@dataclass(frozen=True, slots=True)
class ModelRules:
    """A model with what is expected of it. `uses` is what it was seen to use of torch, None when nobody looked."""

    check: ModelCheck
    rules: FileRules
    uses: ModelUses | None

    @property
    def provenance(self) -> str:
        return self.rules.provenance

    def test(self, test_id: str) -> CollectedTest | None:
        """Its test of this id."""
        return next((test for test in self.check.collected() if test.id == test_id), None)


def model_rules(provenance: str, spec: ModelSpec, device: DeviceRules) -> ModelRules:
    """Compile a model that stands at `provenance`."""
    check = _check(spec)
    forced = [item for item in spec.dtypes if item.force_xfail]
    plain = [item for item in spec.dtypes if not item.force_xfail]
    modes = [(items, mode) for items, mode in ((plain, spec.mode), (forced, _weakened(spec.mode))) if items]
    entries = [_entry(provenance, index, spec, items, mode) for index, (items, mode) in enumerate(modes)]
    exact = {str(one.name): tuple(_names(str(one.name), entries)) for one in spec.compare}
    return ModelRules(check, FileRules(provenance, check.file, Mode.SKIP, device, exact, ()), spec.uses)


def _names(comparison: str, entries: Iterable[EntryRules]) -> Iterator[EntryName]:
    return (EntryName(comparison, entry, None, None) for entry in entries)


def _weakened(mode: Mode) -> Mode:
    """As `force_xfail` weakens nothing but what has to pass (`oot-manifests.md` 2.4)."""
    return Mode.XFAIL if mode is Mode.MANDATORY_SUCCESS else mode


def _entry(provenance: str, index: int, spec: ModelSpec, items: Iterable[DtypeItem], mode: Mode) -> EntryRules:
    dtypes = [item.name for item in items]
    tolerances = {dtype: _tolerance(spec, dtype) for dtype in dtypes}
    return EntryRules(
        provenance=provenance,
        index=index,
        mode=mode,
        tags=spec.tags,
        labels=frozenset(spec.labels),
        included=frozenset(dtypes),
        excluded_dtypes=frozenset(),
        excluded_ops=(),
        platforms=spec.platforms,
        timeout_s=spec.timeout_s,
        remarks=Remarks(spec.reason or "", spec.issue or "", spec.owner or "", spec.expires),
        tolerances={dtype: Tolerance(one.atol, one.rtol) for dtype, one in tolerances.items()},
    )


def _tolerance(spec: ModelSpec, dtype: str) -> DtypeTolerance:
    """What the manifest gives; with `rtol` alone `atol` is 0, as everywhere in manifests."""
    precision = next((item.precision for item in spec.dtypes if item.name == dtype), None)
    usual = TOLERANCES[dtype]
    if precision is None or (precision.atol is None and precision.rtol is None):
        return usual
    return DtypeTolerance(precision.atol or 0.0, precision.rtol or 0.0)


def _check(spec: ModelSpec) -> ModelCheck:
    asked = {one.name: one for one in spec.compare}
    greedy, top_k = (asked.get(name) or ComparisonSpec(name=name) for name in (Comparison.GREEDY, Comparison.TOP_K))
    source = spec.transformers
    return ModelCheck(
        name=spec.name,
        inputs=tuple(ModelInput(one.name, one.shape, one.kind, one.below, one.seed) for one in spec.inputs),
        comparisons=tuple(asked),
        dtypes=tuple(item.name for item in spec.dtypes),
        tolerances={item.name: _tolerance(spec, item.name) for item in spec.dtypes},
        import_path=spec.import_path or "",
        arguments=spec.arguments,
        transformers=TransformersModel(source.config, source.sizes, source.model) if source else None,
        weights=spec.weights or "",
        seed=spec.seed,
        output=spec.output,
        compiled_by=spec.compiled_by,
        greedy_tokens=greedy.tokens,
        top_k=top_k.k,
        agreement=top_k.agreement,
    )
