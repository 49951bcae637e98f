"""The workflow templates: valid, with commands that exist, and with no more rights than they use."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.deployed import DEPLOY, check_command

TEMPLATES = sorted((DEPLOY / "github").glob("*.yml"))


def read(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def check(*files: Path) -> int:
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [str(program), "--builtin-schema", "vendor.github-workflows", *map(str, files)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_templates_are_valid_and_the_check_can_fail(tmp_path: Path) -> None:
    assert check(*TEMPLATES) == 0
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(TEMPLATES[0].read_text().replace("runs-on:", "run-on:"))
    assert check(wrong) == 1


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.name))
def test_every_relay_command_is_real(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what GitHub gives to every job."""
    monkeypatch.setenv("GITHUB_EVENT_PATH", "event.json")
    lines = [step["run"] for step in steps(path) if step.get("run", "").startswith("relay ")]
    assert lines
    for line in lines:
        check_command(shlex.split(line)[1:])


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.name))
def test_its_head_names_what_must_be_set(path: Path) -> None:
    """Who copies a template reads no further; what is not set is empty there, not an error. A command that the head
    names is real."""
    head, _, rest = path.read_text().partition("\nname:")
    assert set(re.findall(r"\b(?:vars|secrets)\.(\w+)", rest)) == set(re.findall(r"\b(?:RELAY|CRCR)_\w+", head))
    for line in re.findall(r"`relay ([^`]+)`", head.replace("\n# ", " ")):
        check_command(shlex.split(line))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.name))
def test_nothing_is_left_to_chance(path: Path) -> None:
    """Rights are named, jobs end, a checkout keeps no token, and nothing that others write becomes a command."""
    found = read(path)
    assert found["permissions"]["contents"] == "read"
    assert set(found["permissions"]) <= {"contents", "id-token"}
    assert all(job["timeout-minutes"] for job in found["jobs"].values())
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False
        written = set(re.findall(r"\$\{\{\s*([\w.]+)", step.get("run", "")))
        assert written <= {"vars.RELAY_VERSION"}


def test_a_backend_listens_for_what_a_relay_dispatches() -> None:
    """The types are the names of the events (crcr-protocol 2)."""
    found = read(DEPLOY / "github" / "crcr-backend.yml")
    # YAML 1.1 reads the key `on` as a truth value.
    assert set(found[True]["repository_dispatch"]["types"]) == {"pull_request", "push"}


def test_a_job_gives_up_before_it_is_ended() -> None:
    """So that it can still report."""
    (job,) = read(DEPLOY / "github" / "crcr-backend.yml")["jobs"].values()
    line = next(step["run"] for step in job["steps"] if step.get("run", "").startswith("relay "))
    assert int(re.findall(r"--timeout (\d+)", line)[0]) < job["timeout-minutes"] * 60
