"""A program that trains on the device and then ends must end well."""

from __future__ import annotations

from pathlib import Path

from tests.workers.spyre.device_process import Run

TRAIN_AND_END = """
import torch
weight = torch.ones(4, 4, device="spyre", requires_grad=True)
for _ in range(50):
    (weight @ weight).sum().backward()
"""


def test_a_program_that_ends_right_after_a_backward_pass_ends_well(run_python: Run, device_library: Path) -> None:
    """Without settling, more than half of such processes abort after their last line."""
    for _ in range(4):
        done = run_python("-c", TRAIN_AND_END, SPYRE_LIBRARY=str(device_library))
        assert done.returncode == 0, done.stderr
