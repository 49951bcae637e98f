"""Whole models as manifests ask for them, and the tests that each of them stands for.

A *model check* is one model with everything that is looked at in it: it becomes one test for each comparison and dtype,
`models/<name>::<comparison>[<dtype>]`. This is what the worker's child process gets, as JSON; the child needs nothing
of ours to read it. Nothing here builds a model or looks for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from selector.types import BaseTest, CollectedTest

#: Where the "files" of model checks are. Upstream has no such folder; its tests are below `test/`.
MODELS_FOLDER = "models/"


class Comparison(StrEnum):
    """What of a model is held against the CPU: the numbers that come out, the token ids that greedy decoding gives, or
    how many of the best `top_k.k` places of the last position are the same."""

    LOGITS = "logits"
    GREEDY = "greedy"
    TOP_K = "top_k"


class InputKind(StrEnum):
    """How an input is filled: whole numbers from 0 up to, but not with, `below` (int64); standard normal numbers (made
    as float32, then of the check's dtype); ones (int64, a mask that lets everything through)."""

    TOKENS = "tokens"
    NORMAL = "normal"
    ONES = "ones"


@dataclass(frozen=True, slots=True)
class ModelInput:
    """One keyword argument of the model's call, made on the CPU by a generator of its own with `seed`. An empty name:
    the first positional argument."""

    name: str
    shape: tuple[int, ...]
    kind: InputKind = InputKind.TOKENS
    below: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TransformersModel:
    """A model of the transformers package: the class of its configuration, the keyword arguments that make it small,
    and the class of the model (`AutoModelForCausalLM` takes most configurations). Where these name no
    `initializer_range`, parameters are drawn with `hidden_size ** -0.5`, so that a small model feels an error in any
    layer."""

    config: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    model: str = "AutoModelForCausalLM"


@dataclass(frozen=True, slots=True)
class DtypeTolerance:
    """How far a number may be from the CPU's: `|device - cpu| <= atol + rtol * |cpu|`."""

    atol: float
    rtol: float


#: Where a manifest gives none, by dtype. Those of a whole model: an error goes through all of its layers.
TOLERANCES: Mapping[str, DtypeTolerance] = {
    "float64": DtypeTolerance(1e-7, 1e-7),
    "float32": DtypeTolerance(1e-4, 1e-4),
    "float16": DtypeTolerance(2e-2, 2e-2),
    "bfloat16": DtypeTolerance(1e-1, 1e-1),
}


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """One model and what is looked at. Exactly one of `import_path` (`package.module:factory`, called with `arguments`,
    gives a `torch.nn.Module`), `transformers` and `weights` (a folder in that of `RELAY_MODEL_WEIGHTS`, in
    the transformers package's form) says where it comes from.

    Parameters are made on the CPU as float32 after `torch.manual_seed(seed)`, then cast. `output` names the attribute
    of the answer that is compared (`logits`, `last_hidden_state`); empty takes the answer itself. `tolerances` has
    every dtype of `dtypes`. `greedy_tokens`, `top_k` and `agreement` (0 to 1: the least share of the `top_k` best that
    both have in common) mean something only with their comparison. `compiled_by` names the backend of `torch.compile`
    that the model is compiled by on the device (`aot_eager_decomp_partition` runs torch's decompositions of operators
    on the device's own); empty: it runs eagerly. The CPU's side is always eager.
    """

    name: str
    inputs: tuple[ModelInput, ...]
    comparisons: tuple[Comparison, ...]
    dtypes: tuple[str, ...]
    tolerances: Mapping[str, DtypeTolerance]
    import_path: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    transformers: TransformersModel | None = None
    weights: str = ""
    seed: int = 0
    output: str = "logits"
    greedy_tokens: int = 8
    top_k: int = 5
    agreement: float = 1.0
    compiled_by: str = ""

    @property
    def file(self) -> str:
        """What stands for a file in the ids of its tests."""
        return f"{MODELS_FOLDER}{self.name}"

    def base_tests(self) -> tuple[BaseTest, ...]:
        """One for each comparison, as stages 1 to 3 know it."""
        return tuple(BaseTest(self.file, "", str(comparison)) for comparison in self.comparisons)

    def collected(self) -> Iterator[CollectedTest]:
        """One test for each comparison and dtype."""
        for comparison in self.comparisons:
            for dtype in self.dtypes:
                method = f"{comparison}[{dtype}]"
                test_id = f"{self.file}::{method}"
                yield CollectedTest(test_id, self.file, "", str(comparison), method, dtype=dtype)

    def as_json(self) -> dict[str, Any]:
        """Plain values: text, numbers, lists and mappings, under the names of the fields."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ModelCheck:
        """The check of `as_json`. Raises ValueError for anything else."""
        try:
            made = dict(data)
            made["inputs"] = tuple(_input(one) for one in data["inputs"])
            made["comparisons"] = tuple(map(Comparison, data["comparisons"]))
            made["dtypes"] = tuple(data["dtypes"])
            made["tolerances"] = {dtype: DtypeTolerance(**both) for dtype, both in data["tolerances"].items()}
            source = data.get("transformers")
            made["transformers"] = None if source is None else TransformersModel(**source)
            return cls(**made)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a model check: {error}") from error


def _input(data: Mapping[str, Any]) -> ModelInput:
    return ModelInput(**{**data, "shape": tuple(data["shape"]), "kind": InputKind(data["kind"])})


def is_model_file(file: str) -> bool:
    """Whether a test's "file" is a model check."""
    return file.startswith(MODELS_FOLDER)
