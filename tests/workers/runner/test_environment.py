"""A child's environment is built from nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workers.runner.environment import child_environment
from workers.runner.types import Installation

CPU = Installation("cpu", None)


def test_nothing_but_paths_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/somewhere")
    for name in ("PYTORCH_TEST_WITH_SLOW", "TORCH_SHOW_DISPATCH_TRACE", "PYTEST_ADDOPTS", "PYTHONPATH", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "from outside")
    environment = child_environment(CPU, torch_path=None, staged=tmp_path, cookie="c")
    assert environment["PATH"] == "/somewhere"
    assert "from outside" not in environment.values()


def test_the_library_chooses_the_device(tmp_path: Path) -> None:
    library = tmp_path / "libspyre.so"
    spyre = child_environment(Installation("spyre", library), torch_path=None, staged=tmp_path, cookie="c")
    cpu = child_environment(CPU, torch_path=tmp_path / "overlay", staged=tmp_path, cookie="c")
    assert (spyre["SPYRE_LIBRARY"], spyre["PYTORCH_TESTING_DEVICE_ONLY_FOR"]) == (str(library), "privateuse1")
    assert spyre["SPYRE_PROFILE"] == "compat"
    assert "SPYRE_LIBRARY" not in cpu
    assert cpu["PYTORCH_TESTING_DEVICE_ONLY_FOR"] == "cpu"
    assert cpu["PYTHONPATH"].split(":") == [str(tmp_path / "overlay"), str(tmp_path)], (
        "the change goes before the wheel"
    )


def test_children_are_told_where_weights_are(tmp_path: Path) -> None:
    told = child_environment(replace(CPU, weights=tmp_path), torch_path=None, staged=tmp_path, cookie="c")
    untold = child_environment(CPU, torch_path=None, staged=tmp_path, cookie="c")
    assert told == untold | {"OOT_RUNNER_WEIGHTS": str(tmp_path)}
