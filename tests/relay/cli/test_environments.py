"""`relay env`: the workers' program runs apart from it, its answers reach people as rows and scripts as JSON."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.relay.cli.conftest import Relay


@pytest.fixture(autouse=True)
def _worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELAY_WORK_DIR", str(tmp_path / "work"))
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "a-token-of-the-worker")


def test_this_python_can_be_added_under_a_name_listed_and_removed(relay: Relay) -> None:
    """A real environment, with the device of this torch."""
    added = relay("env", "add", "mine", sys.executable, "--profile", "spyre-2026-06")
    assert added.code == 0, added.err
    assert added.out.startswith("mine: torch 2.13.")
    rows = [line.split("\t") for line in relay("env", "list").out.splitlines()]
    assert [row[1] for row in rows] == ["default", "mine"]
    assert [row[5] for row in rows] == ["compat", "spyre-2026-06"]
    assert rows[1][6] == sys.executable
    removed = relay("env", "remove", "mine", "--json")
    assert removed.json == {"name": "mine"}
    assert len(relay("env", "list").out.splitlines()) == 1


def test_the_list_is_json_for_programs(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_DEVICE_PROFILE", "spyre-2026-06")
    ended = relay("env", "list", "--json")
    assert isinstance(ended.json, list)
    (own,) = ended.json
    assert own["profile"] == "spyre-2026-06"
    assert len(own["torch_git_sha"]) == 40
    assert ended.err == ""


def test_a_refusal_is_one_sentence_and_exit_code_1(relay: Relay, tmp_path: Path) -> None:
    ended = relay("env", "add", "x", str(tmp_path))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("error: There is no Python at ")
    assert "Name a Python" in relay("env", "add", "x", str(tmp_path), "--json").error["message"]


def test_the_work_directory_is_the_workers(relay: Relay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without RELAY_WORK_DIR it is below the state folder, as for the workers of `relay up`."""
    monkeypatch.delenv("RELAY_WORK_DIR")
    (tmp_path / "state/work").mkdir(parents=True)
    (tmp_path / "state/work/environments.json").write_text("{")
    assert f"{tmp_path}/state/work/environments.json cannot be read" in relay("env", "list").err


def test_a_name_that_looks_like_an_option_is_a_name(relay: Relay) -> None:
    assert "There is no environment '--work-dir'" in relay("env", "remove", "--", "--work-dir").err
