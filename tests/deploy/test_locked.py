"""What images install: all that is needed, in the versions the tests run with, and the public files only."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.deployed import DEPLOY, ROOT

LOCKED = DEPLOY / "locked"
#: One package: name, version, hashes.
ENTRY = re.compile(r"^([a-z0-9-]+)==(\S+?)((?: \\\n    --hash=sha256:[0-9a-f]{64})*)\n", re.MULTILINE)
CONSTRAINTS = dict(re.findall(r"^(\S+)==(\S+)$", (DEPLOY / "constraints.txt").read_text(), re.MULTILINE))


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Version and number of hashes of each package in a file, which has nothing else in it."""
    text = re.sub(r"^#.*\n", "", (LOCKED / name).read_text(), flags=re.MULTILINE)
    assert ENTRY.sub("", text) == ""
    return {package: (version, hashes.count("sha256:")) for package, version, hashes in ENTRY.findall(text)}


def needed(name: str, extra: str = "") -> set[str]:
    """What a package needs here, and what that needs in turn."""
    found: set[str] = set()
    waiting = [(name, extra)]
    while waiting:
        package, extras = waiting.pop()
        for text in metadata.requires(package) or ():
            wanted = Requirement(text)
            needs = canonicalize_name(wanted.name)
            if needs in found or (wanted.marker and not wanted.marker.evaluate({"extra": extras})):
                continue
            found.add(needs)
            waiting += [(needs, one) for one in ("", *wanted.extras)]
    return found


@pytest.mark.parametrize("file", ["relay.txt", "worker.txt", "wheel.txt"])
def test_every_package_has_hashes_and_the_version_of_the_tests(file: str) -> None:
    """The versions are those that constraints pin; setuptools is older than them in every environment."""
    found = locked(file)
    assert all(hashes for _, hashes in found.values())
    versions = {name: version for name, (version, _) in found.items() if name != "setuptools"}
    assert versions == {name: CONSTRAINTS[name] for name in versions}


def test_an_image_has_all_it_needs_and_nothing_else() -> None:
    """Nothing is looked for but what is named: `--no-deps` would leave out a package that is missing here."""
    relay, worker = set(locked("relay.txt")), set(locked("worker.txt"))
    assert {"celery", "fastapi", "psycopg", "psycopg-binary"} <= relay
    assert relay == needed("oot-relay", "tracing") | needed("oot-relay")
    assert worker | {"torch"} == needed("oot-relay", "emulator") - relay
    assert not relay & worker
    assert set(locked("wheel.txt")) == {"hatchling"} | needed("hatchling")


def test_constraints_pin_whatever_the_project_names() -> None:
    """torch is pinned by the project itself; uv makes the lock and gets into nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lists = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    lists += project["dependency-groups"].values()
    names = {canonicalize_name(Requirement(text).name) for texts in lists for text in texts}
    assert names - set(CONSTRAINTS) == {"torch", "uv"}


def test_torch_is_the_one_the_project_pins() -> None:
    (requirement,) = (LOCKED / "torch.txt").read_text().splitlines()
    assert f'"{requirement}"' in (ROOT / "pyproject.toml").read_text()


def test_pip_reads_what_is_locked() -> None:
    """As the images do, but for what is installed here already, and without asking anybody."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--require-hashes", "--no-deps"]
    files = [word for name in ("relay.txt", "worker.txt") for word in ("-r", str(LOCKED / name))]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout


def test_another_file_of_the_same_version_is_refused(tmp_path: Path) -> None:
    """As an index, a cache or a proxy that somebody got hold of would give it."""
    name, (version, _) = next(iter(locked("wheel.txt").items()))
    with zipfile.ZipFile(tmp_path / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    command = [sys.executable, "-m", "pip", "download", "--no-index", "--find-links", str(tmp_path), "--no-deps"]
    hashes = ["--require-hashes", "-r", str(LOCKED / "wheel.txt"), "-d", str(tmp_path / "taken")]
    done = subprocess.run([*command, *hashes], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "DO NOT MATCH THE HASHES" in done.stderr
