"""What one small operation costs on the device, beside the same operation on the CPU in the same run.

`python -m tests.benchmarks.bench_device`. The two devices take turns, and the best of many rounds counts on each, so
that other work on the machine touches neither the one nor the other for long. Prints microseconds and ratios; a target
beside a ratio is what the device is built for.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import timeit
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workers.spyre.build import ensure_library

Work = Callable[[], object]

#: At most so many times the CPU's time.
TARGETS = {"add": 2.5, "view": 2.5, "item": 3.0, "backward": 3.0}
DEVICES = ("cpu", "spyre")


def main() -> int:
    """Measure every operation and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path(".relay/device"), help="keeps built device libraries")
    parser.add_argument("--rounds", type=int, default=60, help="rounds, of which the best counts (default 60)")
    parser.add_argument("--calls", type=int, default=500, help="calls in a round (default 500)")
    wanted = parser.parse_args()
    os.environ["SPYRE_LIBRARY"] = str(ensure_library(wanted.cache.resolve()))
    import torch

    torch.set_num_threads(1)
    work = {device: _operations(device) for device in DEVICES}
    sys.stdout.write(f"{'operation':10} {'cpu us':>8} {'spyre us':>8} {'ratio':>6}  target\n")
    for name in work["cpu"]:
        best = interleaved({device: work[device][name] for device in DEVICES}, wanted.rounds, wanted.calls)
        cpu, spyre = best["cpu"], best["spyre"]
        target = f"at most {TARGETS[name]:g}" if name in TARGETS else ""
        sys.stdout.write(f"{name:10} {cpu * 1e6:8.2f} {spyre * 1e6:8.2f} {spyre / cpu:6.2f}  {target}\n")
    return 0


def interleaved(work: Mapping[str, Work], rounds: int, calls: int) -> dict[str, float]:
    """The best time of one call of each, in seconds, when all take turns."""
    timers = {name: timeit.Timer(each) for name, each in work.items()}
    best = dict.fromkeys(work, math.inf)
    for _ in range(rounds):
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(calls) / calls)
    return best


def _operations(device: str) -> dict[str, Work]:
    """The operations by name, on tensors of a few elements: all that is measured is what a call costs."""
    import torch

    left, right = torch.ones(4, device=device), torch.ones(4, device=device)
    output = torch.empty(4, device=device)
    scalar = torch.ones((), device=device)
    weight = torch.ones(4, 4, device=device, requires_grad=True)
    inputs = torch.ones(2, 4, device=device)

    def backward() -> Any:
        loss = (inputs @ weight).relu().sum()
        return torch.autograd.grad(loss, weight)

    return {
        "add": lambda: left + right,
        "add out=": lambda: torch.add(left, right, out=output),
        "view": lambda: left.view(2, 2),
        "empty": lambda: torch.empty(4, device=device),
        "item": scalar.item,
        "backward": backward,
    }


if __name__ == "__main__":
    sys.exit(main())
