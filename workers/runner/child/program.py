"""The life of a child, from its fork to its end: takes an order and runs pytest over one file, or another program.

torch is in memory before pytest gets near the checkout, whose `torch` source folder must never stand in for the
installed package.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NoReturn

import pytest

from workers.runner.child.channel import Channel
from workers.runner.child.confinement import close_memory, die_with_parent, flush_everything, show_stacks, take_limits
from workers.runner.child.executed import ExecutedFunctions
from workers.runner.child.functions import Recorder
from workers.runner.child.generation import Generation
from workers.runner.child.one_file import OneFile
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


def live(order: Order, pipes: tuple[int, int], folder: Path, parent: int, recorder: Recorder | None) -> NoReturn:
    """Everything a forked child does. `pipes` are those for events and output, `folder` is its own, for home and
    temporary files; a `recorder` has been at work since before torch was imported. Ends the process without the
    handlers that the warm parent's modules registered for their own exit."""
    status = 1
    events, output = pipes
    try:
        os.setsid()
        close_memory(closed=False)
        die_with_parent()
        if os.getppid() != parent:
            os._exit(status)
        _move_in(output, folder, Path(order.directory))
        stderr = show_stacks()
        channel = Channel(events, bytes.fromhex(order.key))
        take_limits(order)
        status = _carry_out(order, channel, stderr, recorder)
    except BaseException:  # noqa: BLE001 - a fork must not come back into its parent's program
        traceback.print_exc()
    finally:
        flush_everything()
        os._exit(status)


def _move_in(output: int, folder: Path, directory: Path) -> None:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    for variable, name in (("HOME", "home"), ("TMPDIR", "tmp")):
        (folder / name).mkdir()
        os.environ[variable] = str(folder / name)
    tempfile.tempdir = None
    os.chdir(directory)


def _carry_out(order: Order, channel: Channel, stderr: int, recorder: Recorder | None) -> int:
    if order.program:
        importlib.import_module(order.program).carry_out(order, channel, stderr)
        return 0
    generation = Generation(order.device)
    generation.install()
    reporter = Reporter(order, channel, generation, stderr)
    sys.path.insert(0, os.getcwd())
    sys.argv = [order.path]
    plugins: list[object] = [OneFile(Path(order.path)), reporter]
    if recorder is not None:
        plugins.append(ExecutedFunctions(order, channel, recorder, reporter.id_of))
    gc.enable()
    status = pytest.main([*_PYTEST_OPTIONS, f"--rootdir={order.checkout}", order.path], plugins=plugins)
    if not reporter.collected:
        reporter.refuse(
            f"while the file was collected: {reporter.interruption or f'pytest ended with status {status}'}"
        )
    if reporter.done or not reporter.collected:
        reporter.finish()
        return 0
    return _NOT_DONE
