"""What is installed is what is in the repository: code, and the data that code reads at run time."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("relay", "selector", "workers")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel. hatchling runs as in pip, without the isolation that would download it again."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def tracked(*folders: str) -> set[str]:
    command = ["git", "-C", str(ROOT), "ls-files", "--", *folders]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())


def test_every_file_of_the_rooms_is_shipped(wheel: Path) -> None:
    """Templates, migrations, device sources and the demo's tree are data that tools like to leave out."""
    shipped = set(zipfile.ZipFile(wheel).namelist())
    assert tracked(*ROOMS) - shipped == set()
    assert {f"relay/data/{path}" for path in tracked("test_manifests")} - shipped == set()
    assert not any(path.startswith("tests/") for path in shipped)


def test_an_installed_relay_has_manifests(wheel: Path, tmp_path: Path) -> None:
    """Away from a checkout the shipped ones are used, and they are in order."""
    installed = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(installed)
    program = "import relay.settings as s; print(s.RelaySettings().manifest_dir)"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {"PYTHONPATH": str(installed), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=elsewhere, env=environment, check=True, capture_output=True, text=True
    )
    folder = Path(done.stdout.strip())
    assert folder == installed / "relay" / "data" / "test_manifests"
    assert "demo.yaml" in {path.name for path in folder.rglob("*.yaml")}
