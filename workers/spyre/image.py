"""A tensor as it lies on the device: tiled into sticks, with the padding of every row.

The emulator's kernels are the CPU's and work in host order, so only the rest of an allocation's last stick exists while
they run. What a kernel on the device would find between the rows is shown here in place of being emulated.
"""

from __future__ import annotations

from typing import Any

import torch

from workers.spyre.layout import device_layout


def device_image(tensor: Any) -> Any:
    """A CPU tensor in the shape of the device layout. Padding is poisoned: not-a-number, or all bits set in integers.

    Raises ValueError for a dtype or rank that the device does not have.
    """
    layout = device_layout(tensor.shape, tensor.dtype)
    rows = tensor.detach().cpu().contiguous().reshape(tensor.shape or (1,))
    *_, per_stick = layout.device_size
    tiles = -(-rows.shape[-1] // per_stick)
    padded = _poison((*rows.shape[:-1], tiles * per_stick), tensor.dtype)
    padded[..., : rows.shape[-1]] = rows
    return _device_order(padded.reshape(*rows.shape[:-1], tiles, per_stick)).contiguous()


def _poison(shape: tuple[int, ...], dtype: Any) -> Any:
    size = torch.empty((), dtype=dtype).element_size()
    bits = torch.full((*shape[:-1], shape[-1] * size), 0xFF, dtype=torch.uint8)
    return torch.ones(shape, dtype=dtype) if dtype is torch.bool else bits.view(dtype)


def _device_order(tiled: Any) -> Any:
    """(first, middle..., tiles, stick) becomes (middle..., tiles, first, stick)."""
    return tiled.movedim(0, -2) if tiled.dim() > 2 else tiled
