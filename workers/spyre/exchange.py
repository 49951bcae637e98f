"""Handing device tensors to other libraries by DLPack.

torch exports and imports such tensors, but its Python side looks for the backend under the name that it has before a
package takes it, and so refuses the device by its real name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import has_torch_function_unary
from torch.utils.dlpack import DLDeviceType


def answer_for(device_name: str) -> None:
    """Let `Tensor.__dlpack_device__` know tensors of a device: an extension device with the tensor's index."""
    torch.Tensor.__dlpack_device__ = _knowing(device_name, torch.Tensor.__dlpack_device__)


def _knowing(device_name: str, plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(plain)
    def dlpack_device(tensor: Any) -> Any:
        if tensor.device.type == device_name and not has_torch_function_unary(tensor):
            return DLDeviceType.kDLExtDev, tensor.device.index
        return plain(tensor)

    return dlpack_device
