"""The folders a Python needs are found without running it."""

from __future__ import annotations

import sys
from pathlib import Path

from workers.runner.sandbox.interpreter import interpreter_folders


def installed(prefix: Path) -> Path:
    """Something that looks like an installed Python."""
    program = prefix / "bin" / "python3"
    program.parent.mkdir(parents=True)
    program.write_text("")
    return program


def environment(prefix: Path, base: Path) -> Path:
    """A virtual environment made from the program `base`, as PEP 405 has it."""
    program = prefix / "bin" / "python3"
    program.parent.mkdir(parents=True)
    program.symlink_to(base)
    (prefix / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    return program


def test_this_python_needs_its_prefixes() -> None:
    assert {Path(sys.prefix), Path(sys.base_prefix)} <= set(interpreter_folders(Path(sys.executable)))


def test_a_virtual_environment_needs_the_python_it_was_made_from(tmp_path: Path) -> None:
    program = environment(tmp_path / "venv", installed(tmp_path / "base"))
    assert interpreter_folders(program) == (tmp_path / "venv", tmp_path / "base")


def test_a_copied_virtual_environment_needs_it_too(tmp_path: Path) -> None:
    """Its program is no link; only its configuration names the home."""
    program = environment(tmp_path / "venv", installed(tmp_path / "base"))
    program.unlink()
    program.write_text("")
    assert interpreter_folders(program) == (tmp_path / "venv", tmp_path / "base")


def test_links_between_folders_are_followed(tmp_path: Path) -> None:
    """Version managers put a link to the version in use in front; both names must work inside."""
    installed(tmp_path / "python-3.12.8")
    (tmp_path / "python-3.12").symlink_to("python-3.12.8")
    program = environment(tmp_path / "venv", tmp_path / "python-3.12" / "bin" / "python3")
    assert set(interpreter_folders(program)) == {
        tmp_path / "venv",
        tmp_path / "python-3.12",
        tmp_path / "python-3.12.8",
    }


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python").symlink_to("python3")
    (folder / "python3").symlink_to("python")
    assert interpreter_folders(folder / "python") == (tmp_path,)


def test_the_root_folder_is_never_shown() -> None:
    assert Path("/") not in interpreter_folders(Path("/bin/python3"))
