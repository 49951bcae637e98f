"""Where the elements of a tensor lie on the device: tiles of one stick, 128 bytes, along the last dimension.

Follows RFC 0047 of torch-spyre/RFCs and torch_spyre/csrc/spyre_tensor_impl.cpp. The emulator itself keeps tensors in
host order, since its kernels are the CPU's; this says what the device would do with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STICK_BYTES = 128
MOST_DIMENSIONS = 6

# Bytes of one element in the device's own format, which differs from torch's: bool is a 1-6-9 float, int64 an int32.
_ELEMENT_BYTES = {
    "float16": 2,
    "bfloat16": 2,
    "bool": 2,
    "float32": 4,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 4,
    "uint8": 4,
    "float8_e4m3fn": 1,
    "float8_e5m2fnuz": 1,
}


@dataclass(frozen=True, slots=True)
class DeviceLayout:
    """Sizes of the device's dimensions, and per dimension how many host elements one step means (-1: none to step)."""

    device_size: tuple[int, ...]
    stride_map: tuple[int, ...]
    device_bytes: int


def device_layout(shape: Sequence[int], dtype: object) -> DeviceLayout:
    """Work out the default layout of a contiguous tensor: middle dimensions, sticks of a row, dimension 0, stick.

    `dtype` is a torch dtype or its name. Raises ValueError for a dtype or a rank that the device does not have.
    """
    name = str(dtype).removeprefix("torch.")
    if name not in _ELEMENT_BYTES:
        raise ValueError(f"tensors of dtype {name} have no layout on the device")
    if len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"a tensor of {len(shape)} dimensions has no layout, the device has at most {MOST_DIMENSIONS}")
    if any(size < 0 for size in shape):
        raise ValueError(f"a tensor has no negative size: {list(shape)}")
    per_stick = STICK_BYTES // _ELEMENT_BYTES[name]
    order = _device_order(len(shape))
    sizes = [per_stick if place == "stick" else _steps(shape, place, per_stick) for place in order]
    return DeviceLayout(tuple(sizes), _strides(shape, order, per_stick), _product(sizes) * _ELEMENT_BYTES[name])


def _device_order(rank: int) -> list[int | str]:
    """For each dimension of the device the host dimension that it steps through; "tiles" and "stick" share the last."""
    middle: list[int | str] = list(range(1, rank - 1))
    first: list[int | str] = [0] if rank > 1 else []
    return [*middle, "tiles", *first, "stick"]


def _steps(shape: Sequence[int], place: int | str, per_stick: int) -> int:
    if isinstance(place, int):
        return shape[place]
    return -(-shape[-1] // per_stick) if shape else 1


def _strides(shape: Sequence[int], order: Sequence[int | str], per_stick: int) -> tuple[int, ...]:
    def stride(place: int | str) -> int:
        host = place if isinstance(place, int) else len(shape) - 1
        if not shape or shape[host] == 1:
            return -1
        if isinstance(place, int):
            return _product(shape[place + 1 :])
        return per_stick if place == "tiles" else 1

    return tuple(stride(place) for place in order)


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
