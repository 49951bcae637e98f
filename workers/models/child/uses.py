"""What of torch a model uses when it is called on the CPU: operators, functions and classes.

Two ways are recorded where torch has a choice: attention as one operator, and written out in several, which is what a
device runs that has no operator for it. Of a model that is to be compiled, the operators that its own are decomposed
into are recorded too, as deep as that goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch._inductor.decomposition import select_decomp_table
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from workers.models.child.answering import decoded, numbers
from workers.models.child.building import Prepared, prepare

_OWN = "torch."
_NATIVE = "aten::"


def uses(check: Mapping[str, Any]) -> dict[str, list[str]]:
    """`operators` without their overloads (`aten::mm`) and `names` with their modules
    (`torch.nn.modules.linear.Linear`), both sorted. Raises `ModelError`, and what the model raises."""
    prepared = prepare(check, check["dtypes"][0])
    found = _Found()
    table = select_decomp_table() if check["compiled_by"] else {}
    with torch.no_grad():
        for call in _calls(prepared, check):
            for backends in ([SDPBackend.MATH], list(SDPBackend.__members__.values())):
                with sdpa_kernel(backends), _Functions(found), _Operators(found, table):
                    call()
    found.names.update(_classes(prepared.model))
    return {"operators": sorted(found.operators), "names": sorted(found.names)}


def _calls(prepared: Prepared, check: Mapping[str, Any]) -> Iterator[Callable[[], Any]]:
    yield lambda: numbers(prepared, check["output"], "cpu")
    if "greedy" in check["comparisons"]:
        yield lambda: decoded(prepared, check["output"], "cpu", 2)


class _Found:
    def __init__(self) -> None:
        self.operators: set[str] = set()
        self.names: set[str] = set()


class _Functions(TorchFunctionMode):  # type: ignore[misc]  # torch has no types for us
    """What is called by name: functions written in Python, and others as the operators that they are."""

    def __init__(self, found: _Found) -> None:
        super().__init__()
        self._found = found

    def __torch_function__(self, function: Any, _types: Any, arguments: Any = (), options: Any = None) -> Any:
        module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
        if module.startswith(_OWN):
            self._found.names.add(f"{module}.{getattr(function, '__qualname__', name)}")
        if name and hasattr(torch.ops.aten, name):
            self._found.operators.add(f"{_NATIVE}{name}")
        return function(*arguments, **(options or {}))


class _Operators(TorchDispatchMode):  # type: ignore[misc]  # torch has no types for us
    """What is computed in the end. `table` has the decompositions of operators."""

    def __init__(self, found: _Found, table: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self._found = found
        self._table = table

    def __torch_dispatch__(self, operator: Any, _types: Any, arguments: Any = (), options: Any = None) -> Any:
        options = options or {}
        self._found.operators.add(operator._schema.name)
        if operator in self._table and not operator._schema.is_mutable:
            with self:  # once more, to see what it is made of; the answer is the same
                self._table[operator](*arguments, **options)
        return operator(*arguments, **options)


def _classes(model: Any) -> Iterator[str]:
    """The classes of torch that the model's layers are of, and that these inherit from."""
    for layer in model.modules():
        for cls in type(layer).__mro__:
            if cls.__module__.startswith(_OWN):
                yield f"{cls.__module__}.{cls.__qualname__}"
