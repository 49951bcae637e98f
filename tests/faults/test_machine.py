"""A machine's troubles are those of its processes, and of nobody else's."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.machine import Machine, build_shim

AN_HOUR_S = 3600.0
_TELL = "import time; print(time.time(), time.monotonic())"


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def machine(tmp_path: Path, shim: Path) -> Machine:
    return Machine("one", tmp_path / "one", shim)


def said_on(machine: Machine, *command: str) -> str:
    done = subprocess.run(command, env=machine.environment({}), capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def clocks_of(machine: Machine) -> tuple[float, float]:
    """How far ahead of ours its wall clock and its steady clock are."""
    before, steady = time.time(), time.monotonic()
    wall, monotonic = map(float, said_on(machine, sys.executable, "-c", _TELL).split())
    return wall - before, monotonic - steady


@pytest.mark.parametrize("ahead_s", [0.0, AN_HOUR_S, -AN_HOUR_S])
def test_the_wall_clock_is_another_and_the_steady_one_is_not(machine: Machine, ahead_s: float) -> None:
    machine.set_clock_ahead(ahead_s)
    wall, monotonic = clocks_of(machine)
    assert wall == pytest.approx(ahead_s, abs=60)
    assert monotonic == pytest.approx(0, abs=60)


def test_a_full_disk_takes_nothing_from_python_nor_from_git(machine: Machine, tmp_path: Path) -> None:
    """Nor into a file that is there; what lies elsewhere is written, and with room again all is."""
    (machine.disk / "there").write_text("")
    write = "import os, sys; os.write(os.open(sys.argv[1], os.O_CREAT | os.O_APPEND | os.O_WRONLY), b'x')"
    make = ("git", "init", "--quiet", str(machine.disk / "repository"))
    machine.fill_disk(full=True)
    for name in ("there", "new"):
        assert "No space left on device" in said_on(machine, sys.executable, "-c", write, str(machine.disk / name))
    assert "No space left on device" in said_on(machine, *make)
    assert said_on(machine, sys.executable, "-c", write, str(tmp_path / "elsewhere")) == ""
    machine.fill_disk(full=False)
    assert said_on(machine, sys.executable, "-c", write, str(machine.disk / "new")) == ""
    assert said_on(machine, *make) == ""


def test_another_machine_is_not_troubled(machine: Machine, tmp_path: Path, shim: Path) -> None:
    other = Machine("two", tmp_path / "two", shim)
    machine.set_clock_ahead(AN_HOUR_S)
    machine.fill_disk(full=True)
    assert clocks_of(other)[0] == pytest.approx(0, abs=60)
    assert said_on(other, sys.executable, "-c", f"open({str(other.disk / 'a')!r}, 'w').write('x')") == ""
