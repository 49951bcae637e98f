"""What runs beside torch. The claims are the functions in `checks/`; they run in one process, on the CPU alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers.runner.child.test_alone import ALLOWED, imported
from tests.workers.spyre.device_process import ROOT, claims, run_checks
from workers.runner.staging import code_folder

CHECKS = Path(__file__).parent / "checks"
CHILD = code_folder() / "models/child"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the checks say, without a device."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **variables}
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    return run_checks(run, CHECKS, tmp_path_factory.mktemp("checks") / "report.xml", SPYRE_LIBRARY="")


@pytest.mark.parametrize("claim", claims(CHECKS))
def test_the_child_keeps_its_claim(claim: str, outcomes: dict[str, str]) -> None:
    """The check of this name ran and passed."""
    assert outcomes.get(claim, "did not run") == ""


@pytest.mark.parametrize("file", sorted(CHILD.glob("*.py")), ids=lambda file: file.stem)
def test_it_imports_nothing_of_ours_but_what_children_have(file: Path) -> None:
    """Any Python with torch runs it; transformers is imported only where a model asks for it."""
    others = {name for name in imported(file) if name.partition(".")[0] not in ALLOWED}
    allowed = ("workers.models.child.", "workers.runner.child.", "workers.spyre.")
    assert all(name.startswith(allowed) for name in others), others
