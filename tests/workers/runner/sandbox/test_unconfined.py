"""Without a wall there is still a clean environment and a session of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.workers.runner.sandbox.inside import run_inside
from workers.runner.sandbox import Unconfined

PROGRAM = "import json, os; print(json.dumps([dict(os.environ), os.getsid(0) == os.getpid(), os.getcwd()]))"


def test_the_program_gets_the_launchs_environment_and_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "of-the-worker")
    sandbox = Unconfined("for this test")
    _, output = run_inside(sandbox, (sys.executable, "-c", PROGRAM), tmp_path, LC_ALL="C.UTF-8")
    environment, leads, folder = json.loads(output)
    root = str(sandbox.temporary_root(tmp_path))
    assert environment == {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": root, "TMPDIR": root}
    assert (leads, folder, root) == (True, str(tmp_path), str(tmp_path))
