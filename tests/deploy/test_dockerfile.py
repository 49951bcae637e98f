"""The Dockerfile, read: what a builder would refuse, and what an image must not be."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.deploy.deployed import DEPLOY, ROOT, check_command
from tests.test_wheel import ROOMS, tracked

DOCKERFILE = DEPLOY / "Dockerfile"
#: Instructions with their continued lines, without comments.
INSTRUCTIONS = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)).splitlines()


def stages() -> dict[str, list[str]]:
    """The instructions of each stage, the inherited ones first."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in INSTRUCTIONS:
        if match := re.fullmatch(r"FROM (\S+) AS (\S+)", line):
            name = match[2]
            found[name] = list(found.get(match[1], []))
        elif name and line.strip():
            found[name].append(line)
    return found


def copied_names() -> set[str]:
    """What the image takes of the repository."""
    copies = [line.split()[1:-1] for line in INSTRUCTIONS if line.startswith("COPY ") and "--from" not in line]
    return {name for names in copies for name in names}


def last(stage: list[str], instruction: str) -> str:
    return next((line.partition(" ")[2] for line in reversed(stage) if line.startswith(instruction + " ")), "")


def test_hadolint_finds_nothing() -> None:
    program = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([program, "--no-color", DOCKERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("target", ["relay", "worker"])
def test_an_image_runs_as_a_user_without_rights(target: str) -> None:
    user = last(stages()[target], "USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    assert f"--uid {user.partition(':')[0]}" in DOCKERFILE.read_text()


@pytest.mark.parametrize("target", ["relay", "worker"])
def test_an_image_starts_a_real_command(target: str) -> None:
    stage = stages()[target]
    words = [*json.loads(last(stage, "ENTRYPOINT")), *json.loads(last(stage, "CMD"))]
    check_command(words[words.index("relay") + 1 :])


@pytest.mark.parametrize("target", ["relay", "worker"])
def test_the_folder_of_secrets_is_there(target: str) -> None:
    """A relay that is named a folder which is not there does not start; an image tried by itself has no secrets."""
    stage = stages()[target]
    named = re.search(r"RELAY_SECRETS_DIR=(\S+)", "\n".join(stage))
    assert named is not None
    assert any(f"mkdir -p {named[1]}" in line for line in stage)


def test_commands_of_the_build_are_real() -> None:
    lines = [line for line in INSTRUCTIONS if line.startswith("RUN relay ")]
    assert lines
    for line in lines:
        check_command(line.split()[2:])


def test_the_service_holds_no_torch_and_no_compiler() -> None:
    text = "\n".join(stages()["relay"])
    assert "/opt/oot-relay" in text
    assert not re.search(r"emulator|g\+\+|worker-packages", text)


def test_the_worker_has_what_the_sandbox_and_the_emulator_need() -> None:
    installed = next(line for line in stages()["worker"] if "apt-get install" in line)
    assert {"bubblewrap", "libseccomp2", "g++", "git"} <= set(installed.split())


def test_every_install_goes_by_hashes() -> None:
    """But for what the build itself made, and for torch, which comes from an index of the builder's choice."""
    installs = [line for line in INSTRUCTIONS if "pip install" in line]
    free = [line for line in installs if "--require-hashes --no-deps -r /locked/" not in line]
    ours, torch = sorted(free, key=lambda line: "torch" in line)
    assert "pip install --no-index --no-deps /dist/*.whl" in ours
    assert "pip install --no-deps -r /torch.txt" in torch
    assert len(installs) == 5


@pytest.mark.parametrize(("hash_given", "line"), [("", "torch==1.2"), ("ab12", "torch==1.2 --hash=sha256:ab12")])
def test_torch_is_held_to_a_hash_that_is_given(hash_given: str, line: str, tmp_path: Path) -> None:
    (install,) = [line for line in INSTRUCTIONS if "/locked/torch.txt" in line and line.startswith("RUN")]
    (tmp_path / "torch.txt").write_text("torch==1.2\n")
    command = install[install.index("sed ") : install.index(">")].replace("/locked", str(tmp_path))
    environment = {"PATH": os.defpath, "TORCH_SHA256": hash_given}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{line}\n"


def test_the_python_is_the_one_the_versions_were_made_with() -> None:
    """The pinned versions are of one series; another might have no wheels for them."""
    assert re.search(r"^FROM python:3\.11-\S+ AS python$", DOCKERFILE.read_text(), re.MULTILINE)
    wanted = re.search(r'requires-python = ">=(\S+)"', (ROOT / "pyproject.toml").read_text())
    assert wanted is not None
    assert wanted[1] == "3.11"


def test_what_is_copied_is_there_and_is_let_through() -> None:
    """Everything else stays out of the context: secrets, state, history."""
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    copied = copied_names()
    folders = {str(folder) for name in copied for folder in Path(name).parents} & allowed
    assert {name for name in copied if not name.startswith(tuple(folders))} | folders == allowed
    assert all((ROOT / name).exists() for name in copied)
    assert next(line for line in ignored if not line.startswith("#")) == "*"


def test_the_wheel_is_built_of_what_is_copied(tmp_path: Path) -> None:
    """In a folder that has nothing else, as in the image: nothing that it needs is left out."""
    for name in copied_names():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / Path(name).name)
    (line,) = [line for line in INSTRUCTIONS if "hatchling build" in line]
    words = line.removeprefix("RUN python ").replace("/dist", str(tmp_path / "dist")).split()
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = (tmp_path / "dist").glob("*.whl")
    shipped = set(zipfile.ZipFile(built).namelist())
    assert tracked(*ROOMS) - shipped == set()
    assert {f"relay/data/{path}" for path in tracked("test_manifests")} - shipped == set()


def test_a_builder_reads_it() -> None:
    """`docker build --check` needs a running engine, which few test machines have."""
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no container engine runs here: the Dockerfile is read, not built")
    command = ["docker", "build", "--check", "-f", str(DOCKERFILE), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
