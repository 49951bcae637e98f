"""What the device saw: which operators ran, and what a compiled kernel of each would need of a real device."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class KernelFootprint:
    """The largest call of an operator, as a compiled kernel would divide it among cores; sizes in bytes, whole sticks.

    Only arguments count: an emulator that runs eagerly learns the size of results when it is too late to refuse them.
    """

    operator: str
    calls: int
    argument_bytes: int
    cores: int
    scratchpad_bytes_per_core: int
    span_bytes_per_core: int


def take_operators() -> list[str]:
    """Operators that the device ran since the last call, such as `aten::add.Tensor`, in the order of first use."""
    names: list[str] = torch.ops.spyre.take_operators()
    return names


def take_kernels() -> list[KernelFootprint]:
    """Footprints since the last call. Empty in a profile without rules, which does not account for kernels."""
    names, numbers = torch.ops.spyre.take_kernels()
    columns = (numbers[place::5] for place in range(5))
    return [KernelFootprint(name, *row) for name, *row in zip(names, *columns, strict=True)]
