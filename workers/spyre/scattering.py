"""Splitting tensors over several devices and joining them again, which `torch.nn.DataParallel` is made of.

torch has these functions in its CUDA build only, so a CPU build fails in the middle of `DataParallel` with a missing
attribute. Each is a few copies between devices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from workers.spyre.naming import device_name

_HOST = -1  # how torch spells the host among device indices


def complete_torch() -> None:
    """Give torch the functions that its build lacks."""
    functions: dict[str, Callable[..., Any]] = {
        "_broadcast": broadcast,
        "_broadcast_coalesced": broadcast_coalesced,
        "_broadcast_out": broadcast_out,
        "_gather": gather,
        "_gather_out": gather_out,
        "_scatter": scatter,
        "_scatter_out": scatter_out,
    }
    for name, function in functions.items():
        if not hasattr(torch._C, name):
            setattr(torch._C, name, function)


def broadcast(tensor: Any, devices: Sequence[int]) -> list[Any]:
    """One tensor per device; the tensor itself where it lies already."""
    return [tensor.to(_device(index)) for index in devices]


def broadcast_coalesced(tensors: Sequence[Any], devices: Sequence[int], buffer_size: int) -> list[list[Any]]:
    """All tensors for each device. They are not packed into buffers: a copy is no cheaper in larger pieces here."""
    return [[tensor.to(_device(index)) for tensor in tensors] for index in devices]


def broadcast_out(tensor: Any, out: Sequence[Any]) -> list[Any]:
    """Copy a tensor into each of the given ones."""
    return [target.copy_(tensor) for target in out]


def scatter(tensor: Any, devices: Sequence[int], chunk_sizes: Any, dim: int, streams: Any = None) -> list[Any]:
    """One chunk per device, of these sizes along `dim`, else of equal ones. Streams order nothing here."""
    chunks = tensor.split(list(chunk_sizes), dim) if chunk_sizes else tensor.chunk(len(devices), dim)
    return [chunk.to(_device(index)) for chunk, index in zip(chunks, devices, strict=False)]


def scatter_out(tensor: Any, out: Sequence[Any], dim: int, streams: Any = None) -> list[Any]:
    """Copy one chunk into each of the given tensors, whose sizes along `dim` divide the tensor."""
    chunks = tensor.split([target.size(dim) for target in out], dim)
    return [target.copy_(chunk) for target, chunk in zip(out, chunks, strict=True)]


def gather(tensors: Sequence[Any], dim: int, destination: int | None) -> Any:
    """The tensors side by side along `dim`, on one device or on the host."""
    device = torch.device("cpu") if destination == _HOST else _device(destination)
    return torch.cat([tensor.to(device) for tensor in tensors], dim)


def gather_out(tensors: Sequence[Any], out: Any, dim: int) -> Any:
    """The same into a tensor that is there."""
    return torch.cat([tensor.to(out.device) for tensor in tensors], dim, out=out)


def _device(index: int | None) -> Any:
    current = torch.accelerator.current_device_index()
    return torch.device(device_name(), current if index is None else index)
