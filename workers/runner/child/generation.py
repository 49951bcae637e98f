"""How a collected test came about: the method in the source file, the generic class, the operator and the dtype.

PyTorch's device framework turns `TestFoo.test_bar` into `TestFooCPU.test_bar_add_cpu_float32`. Names cannot be
taken apart again for certain (`test_int8_cpu` has no dtype; dots of operator names are gone), so the generator is
watched while it works: `torch.testing._internal.common_device_type.DeviceTypeTestBase.instantiate_test` is called once
per source method and device class, and each generated function carries its parameters as the default of its own
`param_kwargs` argument. Classes of `instantiate_parametrized_tests` carry them too; their source method is the longest
name the generated name starts with.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

_FRAMEWORK = "torch.testing._internal.common_device_type"
#: What the framework calls the class before the backend's own name is known to it.
_UNNAMED_DEVICE = "PRIVATEUSE1"
#: The framework's own arguments, the same for every test.
_DEVICE_ARGUMENTS = frozenset({"device", "devices"})
_PARAMETERS_CAP = 20
_TEXT_CAP = 200


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a collected method comes from. `op` is the operator's registered name with its variant (`div.floor`),
    `parameters` are all others that it was generated with."""

    base: str
    op: str | None = None
    dtype: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()


class Generation:
    """The record of what the framework generated in this process. `install` it before the test file is imported."""

    def __init__(self, device: str) -> None:
        self._suffixes = (_UNNAMED_DEVICE, device.upper())
        self._device = device.upper()
        self._generic: dict[type, str] = {}
        self._bases: dict[tuple[type, str], str] = {}

    def install(self) -> None:
        """Watch the framework from its first import on; a file that does without it does not pay for it."""
        if _FRAMEWORK in sys.modules:  # a device backend may have imported it with torch
            self._watch(sys.modules[_FRAMEWORK])
        else:
            sys.meta_path.insert(0, _FrameworkFinder(self._watch))

    def class_names(self, cls: type) -> tuple[str, str]:
        """The class as in the source, and with the device's own suffix: the first device class of a process is called
        `TestFooPRIVATEUSE1`, later ones `TestFooSPYRE`."""
        name = cls.__name__
        generic = self._generic.get(cls)
        if generic is None:
            return name, name
        return generic, generic + self._device if name.removeprefix(generic) in self._suffixes else name

    def origin(self, cls: type, method: str, source: Path) -> Origin:
        """How `cls.method` was generated; a method written as it stands is its own base."""
        owner = next((kind for kind in cls.__mro__ if method in vars(kind)), cls)
        parameters = _parameters(vars(owner).get(method))
        base = self._bases.get((owner, method))
        if base is None:
            base = method if parameters is None else _source_method(method, source)
        op, dtype = _op_and_dtype(parameters or {})
        named = _DEVICE_ARGUMENTS | {name for name, shown in (("op", op), ("dtype", dtype)) if shown is not None}
        return Origin(
            base, op, dtype, as_texts({name: value for name, value in (parameters or {}).items() if name not in named})
        )

    def _watch(self, framework: ModuleType) -> None:
        base_class: Any = framework.DeviceTypeTestBase
        instantiate: Callable[..., None] = vars(base_class)["instantiate_test"].__func__

        @functools.wraps(instantiate)
        def watched(cls: type, name: str, test: object, *, generic_cls: type | None = None) -> None:
            before = len(vars(cls))
            instantiate(cls, name, test, generic_cls=generic_cls)
            if generic_cls is not None:
                self._generic[cls] = generic_cls.__name__
            for generated in islice(vars(cls), before, None):
                self._bases[cls, generated] = name

        base_class.instantiate_test = classmethod(watched)


class _FrameworkFinder(MetaPathFinder):
    """Calls back when the framework has been imported. Finds that one module once, with everybody else's means."""

    def __init__(self, imported: Callable[[ModuleType], None]) -> None:
        self._imported = imported

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _FRAMEWORK:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _CallingLoader(spec.loader, self._imported)
        return spec


class _CallingLoader(Loader):
    def __init__(self, loader: Loader, imported: Callable[[ModuleType], None]) -> None:
        self._loader, self._imported = loader, imported

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._imported(module)


def as_texts(parameters: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Names and values for people, in their order: at most 20, each text at most 200 characters."""
    chosen = islice(parameters.items(), _PARAMETERS_CAP)
    return tuple((str(name)[:_TEXT_CAP], _as_text(value)) for name, value in chosen)


def _as_text(value: object) -> str:
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and callable(value):  # its text would hold an address
        return name[:_TEXT_CAP]
    try:
        return str(value)[:_TEXT_CAP]
    except Exception:  # noqa: BLE001 - upstream's own method; its type says something too
        return f"<{type(value).__name__}>"


def _parameters(function: object) -> Mapping[str, object] | None:
    """The parameters a generated function was made with, also under decorators that were put on top; else None."""
    while function is not None:
        code, defaults = getattr(function, "__code__", None), getattr(function, "__defaults__", None)
        if code is not None and defaults and code.co_varnames[code.co_argcount - 1] == "param_kwargs":
            return defaults[-1] if isinstance(defaults[-1], dict) else None
        function = getattr(function, "__wrapped__", None)
    return None


def _op_and_dtype(parameters: Mapping[str, object]) -> tuple[str | None, str | None]:
    # Operator and dtype are objects of torch, which is not imported here for the sake of two attributes.
    op = getattr(parameters.get("op"), "full_name", None)
    dtype = parameters.get("dtype")
    return op if isinstance(op, str) else None, None if dtype is None else str(dtype).removeprefix("torch.")


def _source_method(method: str, source: Path) -> str:
    """The longest name of a test in the source that `method` is made from by adding a suffix."""
    return max((name for name in _test_names(source) if method.startswith(f"{name}_")), key=len, default=method)


@functools.lru_cache(maxsize=1)
def _test_names(source: Path) -> frozenset[str]:
    return frozenset(_functions(ast.parse(source.read_bytes())))


def _functions(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name
