"""README.md says what the code does: settings, commands, the state diagram, the make targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relay.runs.states import RUN_TRANSITIONS
from relay.settings import RelaySettings
from relay.views import Verdict
from workers.settings import WorkerSettings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", sorted({*RelaySettings.model_fields, *WorkerSettings.model_fields}))
def test_every_setting_is_in_the_tables(name: str) -> None:
    assert f"`RELAY_{name.upper()}`" in README


def test_no_setting_is_in_the_tables_that_does_not_exist() -> None:
    known = {f"RELAY_{name.upper()}" for name in {*RelaySettings.model_fields, *WorkerSettings.model_fields}}
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `RELAY_")]
    assert {name for row in rows for name in re.findall(r"`(RELAY_\w+)`", row)} == known


def test_the_diagram_is_the_state_machine() -> None:
    drawn = set(re.findall(r"^    (\w+) --> (\w+)$", README, re.MULTILINE))
    assert drawn == {(before, after) for before, all_after in RUN_TRANSITIONS.items() for after in all_after}


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_is_explained(verdict: Verdict) -> None:
    assert f"`{verdict}`" in README


def test_every_make_target_named_exists() -> None:
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^    make ([a-z0-9]+)", README, re.MULTILINE))
    assert {"demo", "test", "check"} <= named <= targets


def test_every_command_named_exists() -> None:
    from relay.cli.root import build

    commands = set(build().commands)
    named = set(re.findall(r"relay (up|[a-z]+) ?", " ".join(re.findall(r"^    relay .*$", README, re.MULTILINE))))
    assert named <= commands
