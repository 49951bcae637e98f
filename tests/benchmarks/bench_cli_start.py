"""How long `relay` takes to start: the median of many starts, in wall-clock time and in processor time.

`python -m tests.benchmarks.bench_cli_start [--starts 20]` takes seconds. Wall-clock time is what a person waits, on a
machine that has nothing else to do; processor time (user and system) is the same on a busy one. The goal for
`relay --help` is 150 ms. A bare Python is measured beside it: nothing written in Python starts sooner.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

GOAL_MS = 150
LINES = {
    "python -c pass": ("-c", "pass"),
    "relay --version": ("-m", "relay", "--version"),
    "relay --help": ("-m", "relay", "--help"),
    "relay run watch --help": ("-m", "relay", "run", "watch", "--help"),
    "relay rum (a mistake)": ("-m", "relay", "rum"),
}


@dataclass(frozen=True, slots=True)
class Start:
    """One start, in milliseconds."""

    wall_ms: float
    processor_ms: float


def start(arguments: Sequence[str]) -> Start:
    """Run Python with these arguments to its end, output thrown away."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    wall, after = time.perf_counter() - began, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Start(wall * 1_000, spent * 1_000)


def line_of(name: str, starts: Sequence[Start]) -> str:
    """One row of the table."""
    wall, spent = median(it.wall_ms for it in starts), median(it.processor_ms for it in starts)
    return f"{name:24}{wall:10.0f} ms{spent:10.0f} ms{min(it.wall_ms for it in starts):10.0f} ms"


def main() -> int:
    """Measure all lines in turn, so that a busy moment hits each of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=20, help="starts of each line (default 20)")
    wanted = parser.parse_args().starts
    for arguments in LINES.values():
        start(arguments)  # byte code and file cache
    starts: dict[str, list[Start]] = {name: [] for name in LINES}
    for _ in range(wanted):
        for name, arguments in LINES.items():
            starts[name].append(start(arguments))
    sys.stdout.write(f"{'median of ' + str(wanted):24}{'wall':>13}{'processor':>13}{'best wall':>13}\n")
    for name in LINES:
        sys.stdout.write(f"{line_of(name, starts[name])}\n")
    sys.stdout.write(f"goal for relay --help: {GOAL_MS} ms\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
