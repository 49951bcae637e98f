"""Finding out what an environment is, without importing the torch in it."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from tests.workers.pythons import make_venv, torch_folder
from workers.environments.environment import (
    EnvironmentProblemError,
    Torch,
    checked_name,
    inspected_environment,
    own_environment,
    read_torch,
)
from workers.upstream.overlay import installed_wheel


@pytest.mark.parametrize("by", ["folder", "program"])
def test_an_environment_is_found_by_its_folder_or_its_python(tmp_path: Path, by: str) -> None:
    """And keeps the Python of the environment's own name, though that is a link to another."""
    site = make_venv(tmp_path / "venv", "torch", "pytest")
    python = tmp_path / "venv/bin/python"
    found = inspected_environment("nightly", tmp_path / "venv" if by == "folder" else python, "compat")
    assert (found.name, found.python, found.wheel) == ("nightly", python, site)
    assert found.torch == Torch("2.13.0+cpu", "c" * 40)
    assert (found.python_version, found.profile) == (platform.python_version(), "compat")


def test_the_workers_own_environment_is_this_one() -> None:
    own = own_environment("spyre-2026-06")
    assert (own.name, own.python, own.wheel) == ("default", Path(sys.executable), installed_wheel())
    assert own.torch.version.startswith("2.13.")
    assert len(own.torch.git_sha) == 40
    assert own.profile == "spyre-2026-06"


@pytest.mark.parametrize("packages", [("pytest",), ("torch",)])
def test_what_is_missing_is_named_with_the_command_that_installs_it(tmp_path: Path, packages: tuple[str, ...]) -> None:
    make_venv(tmp_path / "venv", *packages)
    (missing,) = {"torch", "pytest"} - set(packages)
    with pytest.raises(EnvironmentProblemError, match=rf"{missing} is not installed .*python -m pip install {missing}"):
        inspected_environment("x", tmp_path / "venv", "compat")


def test_a_torch_that_a_sandbox_would_not_show_is_refused(tmp_path: Path) -> None:
    """A checkout installed in place, for one."""
    site = make_venv(tmp_path / "venv", "pytest")
    torch_folder(tmp_path / "checkout")
    (site / "torch.pth").write_text(f"{tmp_path / 'checkout'}\n")
    with pytest.raises(EnvironmentProblemError, match="lies outside of it"):
        inspected_environment("x", tmp_path / "venv", "compat")


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"version": [3, 10, 4], "torch": "/t/__init__.py", "pytest": "/p"}\'\n')
    python.chmod(0o755)
    with pytest.raises(EnvironmentProblemError, match=r"is Python 3\.10\.4\. Use Python 3\.11 or newer"):
        inspected_environment("x", python, "compat")


@pytest.mark.parametrize(("version", "refused"), [("7.4.4", True), ("2.0", True), ("8.0.0", False), ("", False)])
def test_pytest_must_be_new_enough_for_the_runner(version: str, refused: bool, tmp_path: Path) -> None:
    """A pytest whose version nobody wrote down (a source checkout) is believed."""
    python = tmp_path / "python3"
    answer = f'{{"version": [3, 12, 0], "torch": "/t/__init__.py", "pytest": "/p", "pytest_version": "{version}"}}'
    python.write_text(f"#!/bin/sh\necho '{answer}'\n")
    python.chmod(0o755)
    expected = r"pytest .* is too old for the runner\. Install .* 'pytest>=8'" if refused else "lies outside of it"
    with pytest.raises(EnvironmentProblemError, match=expected):
        inspected_environment("old", python, "compat")


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n", "#!/bin/sh\n", "no program\n"])
def test_a_program_that_is_no_python_is_refused(tmp_path: Path, script: str) -> None:
    python = tmp_path / "python"
    python.write_text(script)
    python.chmod(0o755)
    with pytest.raises(EnvironmentProblemError, match="does not run as a Python") as caught:
        inspected_environment("x", python, "compat")
    assert "find_spec" not in str(caught.value)


def test_a_folder_without_a_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblemError, match=r"There is no Python at .*Name a Python, or the folder"):
        inspected_environment("x", tmp_path, "compat")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__version__ = '2.14.0a0+git1'\ngit_version = 'Unknown'\n", Torch("2.14.0a0+git1", "")),
        (f"__version__: str = \"2.13.1\"\ngit_version = '{'a' * 40}'\n", Torch("2.13.1", "a" * 40)),
        ("__version__ = '2.13.0'\n", Torch("2.13.0", "")),
        ("debug = False\n", None),
        (b"\xff\xfe", None),
        (None, None),
    ],
)
def test_a_version_file_is_read_as_text(tmp_path: Path, text: str | bytes | None, expected: Torch | None) -> None:
    torch_folder(tmp_path)
    file = tmp_path / "torch" / "version.py"
    if text is None:
        file.unlink()
    else:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    if expected is not None:
        assert read_torch(tmp_path) == expected
        return
    with pytest.raises(EnvironmentProblemError, match="Install torch there again"):
        read_torch(tmp_path)


@pytest.mark.parametrize("name", ["default", "", "-x", "A", "a b", "../a", "a" * 64, "a\n"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(EnvironmentProblemError):
        checked_name(name)


@pytest.mark.parametrize("name", ["nightly", "2.13", "torch-2_13", "a" * 63])
def test_plain_names_are_taken(name: str) -> None:
    assert checked_name(name) == name
