"""Holds the device's answer against the CPU's: a sentence where they differ, nothing where they agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from workers.models.child.answering import Decoded


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`|device - cpu| <= atol + rtol * |cpu|`."""

    atol: float
    rtol: float

    def room(self, cpu: Any) -> Any:
        """How far each number may be from the CPU's."""
        return self.atol + self.rtol * cpu.abs()


def excess(device: Any, cpu: Any, tolerance: Tolerance) -> Any:
    """How often each number's tolerance fits into its distance: above 1 it differs. A number that is not finite must be
    the same on both sides. Both are on the CPU and have the same shape."""
    device, cpu = device.double(), cpu.double()
    distance = (device - cpu).abs() / tolerance.room(cpu)
    alike = (device == cpu) | (device.isnan() & cpu.isnan())
    return torch.where(alike, 0.0, distance.nan_to_num(nan=torch.inf, posinf=torch.inf))


def difference(device: Any, cpu: Any, tolerance: Tolerance) -> str:
    """Where numbers differ, how many and the worst of them."""
    if device.shape != cpu.shape:
        return f"the device's shape is {list(device.shape)}, the CPU's {list(cpu.shape)}"
    if device.dtype != cpu.dtype:
        return f"the device's dtype is {device.dtype}, the CPU's {cpu.dtype}"
    times = excess(device, cpu, tolerance)
    wrong = int((times > 1).sum())
    if not wrong:
        return ""
    worst = int(times.argmax())
    place = [int(index) for index in torch.unravel_index(torch.tensor(worst), times.shape)]
    left, right = device.flatten()[worst].item(), cpu.flatten()[worst].item()
    return (
        f"{wrong:,} of {times.numel():,} numbers differ by more than {tolerance.atol:g} + {tolerance.rtol:g} * |CPU|; "
        f"worst at {place}: {left:.6g} on the device, {right:.6g} on the CPU"
    )


def token_difference(device: Decoded, cpu: Decoded, tolerance: Tolerance) -> str:
    """The first step of a row at which another token was chosen, unless the CPU's own scores of the two are so close
    that the tolerance cannot tell them apart; what comes after such a step follows from it and is not compared."""
    for row, (ours, theirs) in enumerate(zip(device.tokens.tolist(), cpu.tokens.tolist(), strict=True)):
        step = next((step for step, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]), None)
        if step is None:
            continue
        scores = cpu.scores[row, step].double()
        gap = float(scores[theirs[step]] - scores[ours[step]])
        room = float(tolerance.room(scores[theirs[step]]) + tolerance.room(scores[ours[step]]))
        if not gap <= room:
            return (
                f"row {row} takes token {ours[step]} at step {step + 1} of {len(theirs)} where the CPU takes "
                f"{theirs[step]}, whose score there is {gap:.4g} better ({room:.4g} would be no difference)"
            )
    return ""


def top_difference(device: Any, cpu: Any, count: int, agreement: float) -> str:
    """The row that has the fewest of the CPU's `count` best places of the last position, if these are too few."""
    count = min(count, cpu.shape[-1])
    rows = [(best_places(ours, count), best_places(theirs, count)) for ours, theirs in zip(device, cpu, strict=True)]
    shares = [len(ours & theirs) / count for ours, theirs in rows]
    least = min(range(len(shares)), key=shares.__getitem__)
    if shares[least] >= agreement:
        return ""
    ours, theirs = rows[least]
    return (
        f"row {least} has {len(ours & theirs)} of the CPU's {count} best in common, {agreement:.0%} are asked for; "
        f"only the device has {sorted(ours - theirs)}, only the CPU {sorted(theirs - ours)}"
    )


def best_places(row: Any, count: int) -> set[int]:
    """The places with the highest numbers of the last position of a row."""
    last = row.reshape(-1, row.shape[-1])[-1]
    return set(last.float().topk(count).indices.tolist())
