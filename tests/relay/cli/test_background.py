"""`relay background` as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


def test_it_goes_on_until_a_signal(tmp_path: Path) -> None:
    """It says what it does, and ends with 0."""
    with subprocess.Popen(
        [sys.executable, "-m", "relay", "background"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RELAY_STATE_DIR": str(tmp_path), "RELAY_MANIFEST_DIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "delivering and sweeping; Ctrl-C stops it\n"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
