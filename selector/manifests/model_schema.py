"""Schema of `models`, our section of a manifest about whole models; the framework ignores it (`oot-manifests.md` 1.1).

What is written here becomes a `ModelCheck` in `model_rules.py`. Nothing here knows torch or transformers.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from selector.manifests.extensions import Expiry, IssueRef, PlatformNames, Remark, TimeoutSeconds
from selector.manifests.inputs import Section
from selector.manifests.models import TOLERANCES, Comparison, InputKind
from selector.manifests.precision import DtypeItem
from selector.types import Mode

MAX_ELEMENTS = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_BACKEND = re.compile(r"[A-Za-z_]\w{0,79}")
_SOURCES = ("transformers", "import_path", "weights")


def _model_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            "a model's name is made of up to 80 letters, digits, `-`, `_` and `.`, and is part of test ids"
        )
    return name


def _import_path(path: str) -> str:
    if not _IMPORT_PATH.fullmatch(path):
        raise ValueError("write `package.module:factory`; the factory is called and gives the model")
    return path


def _backend(name: str) -> str:
    if not _BACKEND.fullmatch(name):
        raise ValueError("write the name of a backend of `torch.compile`, such as aot_eager_decomp_partition")
    return name


def _as_named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _not_empty(items: Any) -> Any:
    if not items:
        raise ValueError("an empty list; a model without one has no test")
    return items


class TransformersSource(Section):
    """A model of the transformers package from its configuration, so that no weights are fetched."""

    config: str
    model: str = "AutoModelForCausalLM"
    sizes: dict[str, Any] = Field(default_factory=dict)


class ModelInputSpec(Section):
    """One argument of the model's call."""

    name: str = ""
    shape: tuple[Annotated[int, Field(gt=0)], ...]
    kind: InputKind = InputKind.TOKENS
    below: Annotated[int, Field(ge=0)] = 0
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.kind is InputKind.TOKENS and self.below < 1:
            raise ValueError("tokens need `below`: the number of words the model knows")
        elements = 1
        for size in self.shape:
            elements *= size
        if elements > MAX_ELEMENTS:
            raise ValueError(f"an input of {elements} elements; a check is meant to be small ({MAX_ELEMENTS} at most)")
        return self


class ComparisonSpec(Section):
    """One thing that is compared with the CPU. `tokens` belongs to `greedy`, `k` and `agreement` to `top_k`."""

    name: Comparison
    tokens: Annotated[int, Field(gt=0, le=256)] = 8
    k: Annotated[int, Field(gt=0, le=1000)] = 5
    agreement: Annotated[float, Field(gt=0, le=1)] = 1.0


class ModelUses(Section):
    """What of torch the model was seen to use, so that changes lead to it. Written by `relay manifest model-ops`:
    operators as `native_functions.yaml` names them, functions and classes with their modules."""

    recorded_with: Remark | None = None
    operators: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class ModelSpec(Section):
    """A whole model and what is expected of it. The keys from `mode` on mean what they mean in an entry."""

    name: Annotated[str, AfterValidator(_model_name)]
    transformers: TransformersSource | None = None
    import_path: Annotated[str, AfterValidator(_import_path)] | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    weights: str | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    inputs: Annotated[tuple[ModelInputSpec, ...], AfterValidator(_not_empty)]
    output: str = "logits"
    compiled_by: Annotated[str, AfterValidator(_backend)] = ""
    compare: Annotated[tuple[Annotated[ComparisonSpec, BeforeValidator(_as_named)], ...], AfterValidator(_not_empty)]
    dtypes: Annotated[tuple[Annotated[DtypeItem, BeforeValidator(_as_named)], ...], AfterValidator(_not_empty)]
    uses: ModelUses | None = None
    mode: Mode = Mode.MANDATORY_SUCCESS
    tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    reason: Remark | None = None
    issue: IssueRef | None = None
    owner: Remark | None = None
    expires: Expiry | None = None
    platforms: PlatformNames = ()
    timeout_s: TimeoutSeconds | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        written = [source for source in _SOURCES if getattr(self, source) is not None]
        if len(written) != 1:
            raise ValueError(f"a model comes from one of {', '.join(f'`{source}`' for source in _SOURCES)}")
        if problem := _twice(self):
            raise ValueError(problem)
        if odd := [item.name for item in self.dtypes if item.name not in TOLERANCES]:
            raise ValueError(f"a model is computed in {', '.join(TOLERANCES)}, not in {odd[0]}")
        if self.asks(Comparison.GREEDY) and not any(one.kind is InputKind.TOKENS for one in self.inputs):
            raise ValueError("`greedy` goes on from tokens, and no input is of that kind")
        return self

    def asks(self, comparison: Comparison) -> bool:
        """Whether it is compared in this way."""
        return any(one.name is comparison for one in self.compare)


def _twice(spec: ModelSpec) -> str:
    """What stands twice in a list where each stands for a test; empty for nothing."""
    for what, names in (
        ("comparison", [str(one.name) for one in spec.compare]),
        ("dtype", [item.name for item in spec.dtypes]),
        ("input", [one.name for one in spec.inputs]),
    ):
        if len(set(names)) < len(names):
            return f"a {what} stands there twice"
    return ""
