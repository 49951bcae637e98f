"""Behaviour of the device. The claims are the functions in `checks/`; they run in one process that has the device.

Each shows up here as a test of its own, found by reading the files, since importing them would import torch.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.spyre.device_process import Run, claims, run_checks

CHECKS = Path(__file__).parent / "checks"


@pytest.fixture(scope="module")
def outcomes(run_python: Run, device_library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the checks say with two emulated devices."""
    return run_checks(
        run_python,
        CHECKS,
        tmp_path_factory.mktemp("checks") / "report.xml",
        SPYRE_LIBRARY=str(device_library),
        SPYRE_DEVICE_COUNT="2",
    )


@pytest.mark.parametrize("claim", claims(CHECKS))
def test_the_device_keeps_its_claim(claim: str, outcomes: dict[str, str]) -> None:
    """The check of this name ran and passed."""
    assert outcomes.get(claim, "did not run") == ""


def test_upstream_style_device_tests_run_unmodified(run_python: Run, device_library: Path, tmp_path: Path) -> None:
    """A file that only knows torch's device-type framework gets its tests for this device, without any plug-in."""
    upstream = tmp_path / "test_upstream_style.py"
    upstream.write_text(
        """
import torch
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests


class TestAddition(TestCase):
    @dtypes(torch.float32, torch.int64)
    def test_add(self, device, dtype):
        one = torch.ones(3, device=device, dtype=dtype)
        self.assertEqual(one.device.type, "spyre")
        self.assertEqual(one + one, torch.full((3,), 2, device=device, dtype=dtype))

    def test_add_wrong(self, device):
        self.assertEqual(torch.ones(1, device=device) + 1, torch.ones(1, device=device))


instantiate_device_type_tests(TestAddition, globals(), only_for="privateuse1")

if __name__ == "__main__":
    run_tests()
"""
    )
    done = run_python(
        *("-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider", "-rA", "--rootdir", str(tmp_path)),
        str(upstream),
        SPYRE_LIBRARY=str(device_library),
        PYTORCH_TESTING_DEVICE_ONLY_FOR="privateuse1",
    )
    summary = done.stdout
    assert "test_add_spyre_float32" in summary, summary + done.stderr
    assert "2 passed" in summary
    assert "1 failed" in summary
