"""The program of a child: `python -P -m workers.runner.child.program`, with an order on standard input.

torch is imported before pytest gets near the checkout, whose `torch` source folder must never stand in for the
installed package.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback

import pytest

from workers.runner.child.channel import Channel
from workers.runner.child.confinement import die_with, reset_signals, show_stacks, take_limits
from workers.runner.child.events import Finished, Refused
from workers.runner.child.generation import Generation
from workers.runner.child.order import Order
from workers.runner.child.reporting import Reporter

#: pytest's own configuration would be upstream's: of another pytest, with plug-ins and reports that are not wanted.
_PYTEST_OPTIONS = (
    "--noconftest",
    "--capture=no",
    "--continue-on-collection-errors",
    "-c",
    os.devnull,
    "-p",
    "no:cacheprovider",
    "-p",
    "no:faulthandler",
    "-p",
    "no:terminal",
)
_NOT_DONE = 3


def main() -> int:
    order = Order.load(sys.stdin)
    die_with(order.parent)
    reset_signals()
    _close_input()
    stderr = show_stacks()
    channel = Channel(order.events)
    take_limits(order)
    problem = _import_torch()
    if problem:
        channel.send(Refused(problem[-order.detail_chars :]))
        channel.send(Finished())
        return 0
    return _carry_out(order, channel, stderr)


def _carry_out(order: Order, channel: Channel, stderr: int) -> int:
    generation = Generation(order.device)
    generation.install()
    reporter = Reporter(order, channel, generation, stderr)
    sys.path.insert(0, os.getcwd())
    sys.argv = [order.path]
    status = pytest.main([*_PYTEST_OPTIONS, f"--rootdir={order.checkout}", order.path], plugins=[reporter])
    if not reporter.collected:
        reporter.refuse(
            f"while the file was collected: {reporter.interruption or f'pytest ended with status {status}'}"
        )
    if reporter.done or not reporter.collected:
        reporter.finish()
        return 0
    return _NOT_DONE


def _import_torch() -> str:
    """Why torch cannot be imported, or an empty text. A backend's entry point can fail with any exception."""
    try:
        importlib.import_module("torch")
    except Exception:  # noqa: BLE001 - whatever it is, it is the answer, and the process ends with it
        return f"torch cannot be imported:\n{traceback.format_exc()}"
    return ""


def _close_input() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


if __name__ == "__main__":
    sys.exit(main())
