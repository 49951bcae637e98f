"""A device library for the whole session, and processes that use it. torch never enters the test process itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers.spyre.device_process import ROOT, Run
from workers.spyre.build import ensure_library
from workers.spyre.cache import default_cache


@pytest.fixture(scope="session")
def device_library() -> Path:
    """The library, kept between sessions: its name says what it was built from."""
    return ensure_library(default_cache())


@pytest.fixture(scope="session")
def run_python() -> Run:
    """Run Python with these arguments and a small environment; keywords are further variables."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **variables}
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return run
