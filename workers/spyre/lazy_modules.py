"""Lazy modules (`torch.nn.LazyLinear` and its kin) keep their parameters open when they move to the device.

A parameter without a shape yet is of a class of its own. For the device types that torch knows, `Module.to` replaces a
parameter's data and leaves its class; for every other type it makes a plain parameter, of shape (0,), and the module
fails at its first input. All lazy modules share one class of torch, so the gap is closed there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedParameter, is_lazy


def keep_lazy_parameters() -> None:
    """Let lazy modules stay lazy on the device. Other device types are served as before."""
    LazyModuleMixin._apply = _move_lazily


def _move_lazily(module: Any, convert: Callable[[Any], Any], recurse: bool = True) -> Any:
    """In the place of `Module._apply`, through which `to`, `half` and their kin all go."""
    open_before = [name for name, parameter in module._parameters.items() if is_lazy(parameter)]
    moved = super(LazyModuleMixin, module)._apply(convert, recurse)
    for name in open_before:
        module._parameters[name] = _reopened(module._parameters[name])
    return moved


def _reopened(parameter: Any) -> Any:
    if is_lazy(parameter):
        return parameter
    make: Any = UninitializedParameter  # torch's stub knows only the first argument
    return make(parameter.requires_grad, device=parameter.device, dtype=parameter.dtype)
