"""The account of processor time over a tree of processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_BURN = "import time\nwhile time.process_time() < 0.3: pass\n"
_LEAVE = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True)\n"
_MEASURE = """\
import os, sys
from pathlib import Path
from tests.benchmarks.processor_time import processor_seconds
spent = processor_seconds([sys.executable, "-c", *sys.argv[2:]], Path("/"), os.environ, Path(sys.argv[1]))
print(spent.seconds, spent.status)
"""


def measured(log: Path, *program: str) -> tuple[float, int]:
    """Seconds and status of a Python program, from a process of its own, which has no other children."""
    project = Path(__file__).parents[2]
    answer = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(log), *program],
        env={**os.environ, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, status = answer.stdout.split()
    return float(seconds), int(status)


@pytest.mark.parametrize("program", [(_BURN,), (_LEAVE, _BURN)], ids=["command", "orphan"])
def test_work_counts_wherever_it_is_done(tmp_path: Path, program: tuple[str, ...]) -> None:
    """Also that of a process in a session of its own whose parent is gone."""
    seconds, status = measured(tmp_path / "log", *program)
    assert seconds >= 0.3
    assert status == 0


def test_the_status_is_that_of_the_command(tmp_path: Path) -> None:
    """A failed command is seen, and what it printed is kept."""
    _, status = measured(tmp_path / "log", "print('words'); raise SystemExit(7)")
    assert status == 7
    assert (tmp_path / "log").read_text() == "words\n"
