"""Schema of the inputs a manifest may write down: tensor specs and the arguments of samples, modules and caches
(`oot-manifests.md` 1.9). They are checked here so that a manifest loads or fails as a whole; nothing builds them.
"""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from selector.manifests.dtypes import DtypeName

MAX_LITERAL_CHARACTERS = 2_000


class Section(BaseModel):
    """A mapping of a manifest. Whether unknown keys are refused is told at validation time, not here."""

    model_config = ConfigDict(frozen=True)


def _without_prefix(value: object) -> object:
    return value.removeprefix("torch.") if isinstance(value, str) else value


TensorDtype = Annotated[DtypeName, BeforeValidator(_without_prefix)]
Init = Literal[
    "rand", "randn", "zeros", "ones", "randint", "arange", "xavier", "eye", "full", "file", "cumsum_offsets"
]  # fmt: skip  # one line reads as the table it is


class InitArguments(Section):
    """Arguments of a tensor's initialisation; which one is needed depends on `init`."""

    low: float | None = None
    high: float | None = None
    fill_value: Any = None
    path: str | None = None
    key: str | None = None
    total: int | None = None


class DeviceLayout(Section):
    """How a tensor is laid out on the device: sizes and strides in the device's own dimensions."""

    device_size: tuple[int, ...]
    stride_map: tuple[int, ...]
    device_dtype: str

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.device_size) != len(self.stride_map):
            raise ValueError("`device_size` and `stride_map` must have the same length")
        return self


class TensorSpec(Section):
    """A tensor by description. The only mapping in which an unknown key is an error."""

    shape: tuple[Annotated[int, Field(ge=0)], ...]
    dtype: TensorDtype
    device: str = "privateuse1"
    init: Init = "rand"
    init_args: InitArguments = InitArguments(low=0)
    stride: tuple[int, ...] | None = None
    storage_offset: Annotated[int, Field(ge=0)] = 0
    device_layout: DeviceLayout | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.stride is not None and len(self.stride) != len(self.shape):
            raise ValueError("`stride` must have as many numbers as `shape`")
        if (needed := _NEEDED.get(self.init)) and getattr(self.init_args, needed) is None:
            raise ValueError(f"`init: {self.init}` needs `init_args.{needed}`")
        if problem := _shape_problem(self.init, self.shape):
            raise ValueError(problem)
        return self


_NEEDED = {"randint": "high", "full": "fill_value", "file": "path", "cumsum_offsets": "total"}


def _shape_problem(init: str, shape: tuple[int, ...]) -> str:
    if init == "arange" and len(shape) != 1:
        return "`init: arange` needs a shape of one dimension"
    if init == "eye" and (len(shape) != 2 or shape[0] != shape[1]):
        return "`init: eye` needs a square shape of two dimensions"
    if init == "xavier" and len(shape) < 2:
        return "`init: xavier` needs a shape of at least two dimensions"
    return ""


class CacheSpec(Section):
    """A key-value cache to build and fill with two tensors."""

    cache_path: str
    layer_idx: int
    key: TensorSpec
    value: TensorSpec
    max_cache_len: int | None = None
    config_path: str | None = None
    config_kwargs: dict[str, Any] = {}


def _literal(text: str) -> str:
    """Refuse what is more than a literal; the text is parsed, never evaluated."""
    if len(text) > MAX_LITERAL_CHARACTERS:
        raise ValueError(f"longer than {MAX_LITERAL_CHARACTERS} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        allowed = _is_literal(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError("not a Python expression") from error
    if not allowed:
        raise ValueError("only constants, tuples, lists, `slice(...)`, `Ellipsis`, `None`, `inf` and `nan` are allowed")
    return text


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in {"Ellipsis", "None", "inf", "nan"}
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return all(_is_literal(item) for item in items)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_literal(operand)
        case ast.Call(func=ast.Name(id="slice"), args=items, keywords=[]):
            return all(_is_literal(item) for item in items)
    return False


KINDS = ("tensor", "tensor_list", "cache", "module_path", "config_path", "model_id", "value", "py")
_CONFIGS = frozenset({"config_path", "model_id"})


class Argument(Section):
    """One positional argument. The first kind present, in the order of the fields, is the one that counts."""

    tensor: TensorSpec | None = None
    tensor_list: tuple[TensorSpec, ...] | None = None
    cache: CacheSpec | None = None
    module_path: str | None = None
    config_path: str | None = None
    model_id: str | None = None
    value: Any = None
    py: Annotated[str, AfterValidator(_literal)] | None = None
    config: Any = None
    module_kwargs: dict[str, Any] = {}
    config_kwargs: dict[str, Any] = {}
    config_overrides: dict[str, Any] = {}

    @property
    def kinds(self) -> list[str]:
        """The kinds that are written here, in the order in which they count; one is right. The configuration that
        `module_path` takes is no kind of its own beside it, and `model_id` goes before `config_path`.
        """
        written = [kind for kind in KINDS if kind in self.model_fields_set]
        configs = [kind for kind in written if kind in _CONFIGS]
        dropped = configs if "module_path" in written else configs[:-1]
        return [kind for kind in written if kind not in dropped]

    @model_validator(mode="before")
    @classmethod
    def _has_a_kind(cls, data: object) -> object:
        if isinstance(data, dict) and not any(kind in data for kind in KINDS):
            raise ValueError(f"an argument needs one of the keys {', '.join(f'`{kind}`' for kind in KINDS)}")
        return data


def _none_as_empty(value: object) -> object:
    return [] if value is None else value


class SampleInputs(Section):
    """One call: positional arguments and keyword arguments. Keyword values stay raw, as in the reference."""

    args: Annotated[tuple[Argument, ...], BeforeValidator(_none_as_empty)] = ()
    kwargs: dict[str, Any] = {}


def _as_list(value: object) -> object:
    return [value] if isinstance(value, dict) else value


SeveralInputs = Annotated[tuple[SampleInputs, ...], BeforeValidator(_as_list)]
