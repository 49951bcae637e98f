"""The register of environments: one file, several processes, and what stands there now."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from tests.workers.pythons import an_environment, make_venv
from workers.environments.environment import EnvironmentProblemError, inspected_environment
from workers.environments.register import Register


@pytest.fixture
def register(tmp_path: Path) -> Register:
    return Register(tmp_path / "work")


def test_what_is_added_is_found_by_name_and_can_be_removed(register: Register, tmp_path: Path) -> None:
    assert register.all() == ()
    make_venv(tmp_path / "venv", "torch", "pytest")
    later = inspected_environment("later", tmp_path / "venv", "spyre-2026-06")
    earlier = inspected_environment("earlier", tmp_path / "venv", "compat")
    register.add(later)
    register.add(earlier)
    assert Register(register.folder).usable() == (earlier, later)
    register.remove("earlier")
    assert register.usable() == (later,)


def test_an_upgraded_torch_is_seen(register: Register, tmp_path: Path) -> None:
    site = make_venv(tmp_path / "venv", "torch", "pytest")
    register.add(inspected_environment("x", tmp_path / "venv", "compat"))
    (site / "torch/version.py").write_text("__version__ = '2.13.5'\n")
    assert [environment.torch.version for environment in register.usable()] == ["2.13.5"]


@pytest.mark.parametrize("gone", ["bin", "lib"])
def test_an_environment_that_is_gone_is_kept_and_said_to_be_broken(
    register: Register, tmp_path: Path, gone: str
) -> None:
    make_venv(tmp_path / "venv", "torch", "pytest")
    register.add(inspected_environment("x", tmp_path / "venv", "compat"))
    shutil.rmtree(tmp_path / "venv" / gone)
    (found,) = register.all()
    assert found.environment is None
    assert str(tmp_path / "venv" / gone) in found.problem
    assert register.usable() == ()


def test_a_name_is_given_once(register: Register) -> None:
    register.add(an_environment("x"))
    with pytest.raises(EnvironmentProblemError, match=r"already\. Remove it first: relay env remove x"):
        register.add(an_environment("x"))
    with pytest.raises(EnvironmentProblemError, match="worker's own"):
        register.add(an_environment("default"))


def test_an_unknown_name_cannot_be_removed(register: Register) -> None:
    with pytest.raises(EnvironmentProblemError, match="There is no environment 'x'"):
        register.remove("x")


@pytest.mark.parametrize("text", ["{", "[]", '{"environments": [{"name": "x"}]}', '{"other": 1}'])
def test_a_damaged_register_is_one_sentence(register: Register, text: str) -> None:
    register.folder.mkdir()
    register.file.write_text(text)
    with pytest.raises(EnvironmentProblemError, match=r"environments\.json cannot be read"):
        register.all()
    with pytest.raises(EnvironmentProblemError, match=r"environments\.json cannot be read"):
        register.add(an_environment("x"))
    assert register.file.read_text() == text


def test_several_at_once_lose_nothing(register: Register) -> None:
    names = [f"env-{number}" for number in range(12)]
    threads = [threading.Thread(target=register.add, args=[an_environment(name)]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found.entry.name for found in register.all()] == sorted(names)
    assert {path.name for path in register.folder.iterdir()} == {"environments.json", "environments.lock"}


def test_a_work_directory_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "work").touch()
    with pytest.raises(EnvironmentProblemError, match="RELAY_WORK_DIR"):
        Register(tmp_path / "work").add(an_environment("x"))
