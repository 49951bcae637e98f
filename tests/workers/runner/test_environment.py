"""A child's environment is built from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.runner.environment import child_environment


def test_nothing_but_paths_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/somewhere")
    for name in ("PYTORCH_TEST_WITH_SLOW", "TORCH_SHOW_DISPATCH_TRACE", "PYTEST_ADDOPTS", "PYTHONPATH", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "from outside")
    environment = child_environment(device_library=None, torch_path=None, scratch=tmp_path, cookie="c")
    assert environment["PATH"] == "/somewhere"
    assert "from outside" not in environment.values()


def test_the_library_chooses_the_device(tmp_path: Path) -> None:
    for name in ("spyre", "cpu"):
        (tmp_path / name).mkdir()
    library = Path("/cache/libspyre.so")
    spyre = child_environment(device_library=library, torch_path=None, scratch=tmp_path / "spyre", cookie="c")
    cpu = child_environment(device_library=None, torch_path=tmp_path, scratch=tmp_path / "cpu", cookie="c")
    assert (spyre["SPYRE_LIBRARY"], spyre["PYTORCH_TESTING_DEVICE_ONLY_FOR"]) == (str(library), "privateuse1")
    assert "SPYRE_LIBRARY" not in cpu
    assert (cpu["PYTORCH_TESTING_DEVICE_ONLY_FOR"], cpu["PYTHONPATH"]) == ("cpu", str(tmp_path))


def test_home_and_temporary_files_are_in_the_scratch_folder(tmp_path: Path) -> None:
    environment = child_environment(device_library=None, torch_path=None, scratch=tmp_path, cookie="c")
    for name in ("HOME", "TMPDIR"):
        assert Path(environment[name]).is_dir()
        assert Path(environment[name]).parent == tmp_path
