"""A filter is made or the gap is named. That it holds is shown by the probes inside."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.workers.runner.sandbox.inside import without_libseccomp
from workers.runner.sandbox import Sandbox
from workers.runner.sandbox.syscalls import NoFilterError, filter_program

INSTRUCTION = 8  # bytes, `struct sock_filter`
LONGEST = 4096  # instructions the kernel takes


def test_the_program_is_one_the_kernel_takes(sandbox: Sandbox) -> None:
    assert sandbox.problem == ""
    program = filter_program()
    assert len(program) % INSTRUCTION == 0
    assert 0 < len(program) // INSTRUCTION <= LONGEST


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_libseccomp(tmp_path, monkeypatch)
    with pytest.raises(NoFilterError, match="apt-get install libseccomp2"):
        filter_program()


def test_a_missing_binding_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    filter_program.cache_clear()
    with pytest.raises(NoFilterError, match="pip install"):
        filter_program()
