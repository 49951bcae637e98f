"""Pythons with a torch that is only a folder: a virtual environment, made in a moment, and nothing compiled."""

from __future__ import annotations

import sysconfig
import venv
from pathlib import Path

from workers.environments.environment import Environment, Torch


def torch_folder(site: Path, version: str = "2.13.0+cpu", git_sha: str = "c" * 40) -> None:
    """A `torch` that can be found but not used."""
    (site / "torch").mkdir(parents=True)
    (site / "torch" / "__init__.py").write_text("raise AssertionError('torch is never imported here')\n")
    (site / "torch" / "version.py").write_text(
        "from typing import Optional\n"
        f"__version__ = '{version}'\ncuda: Optional[str] = None\ngit_version = '{git_sha}'\n"
    )


def make_venv(folder: Path, *packages: str, version: str = "2.13.0+cpu", git_sha: str = "c" * 40) -> Path:
    """A virtual environment with `packages` as empty folders in it; returns its site-packages."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    for package in packages:
        if package == "torch":
            torch_folder(site, version, git_sha)
        else:
            (site / package).mkdir()
            (site / package / "__init__.py").touch()
    return site


def an_environment(name: str, version: str = "2.13.0", git_sha: str = "", **fields: object) -> Environment:
    values = {
        "python": Path("/env", name, "bin/python"), "wheel": Path("/env", name), "python_version": "3.11.7",
        "profile": "compat",
    } | fields  # fmt: skip
    return Environment(name=name, torch=Torch(version, git_sha), **values)  # type: ignore[arg-type]  # by name
