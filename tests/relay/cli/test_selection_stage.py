"""`relay select --stage`: one stage by itself, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from selector.cut.holdout import RULE as HOLDOUT
from tests.relay.cli.conftest import Relay
from tests.relay.cli.test_why import FILES
from tests.selector.upstream import Repository

ROLL = "test/test_functional.py::TestRoll::test_roll_up"
APART = "test/test_functional.py::TestRoll::test_apart"
FAR = "test/test_far.py::TestFar::test_far"


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A change of `roll_up` and of prose."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "upstream").mkdir()
    repository = Repository(tmp_path / "upstream")
    base = repository.commit({**FILES})
    source = FILES["torch/functional.py"].replace("return x\n\n", "return -x\n\n", 1)
    head = repository.commit({"torch/functional.py": source, "README.md": "read this\n"})
    return ("select", "--repo", str(repository.path), "--base", base, "--head", head, "--no-manifests")


def test_stage_1_looks_at_files(relay: Relay, change: tuple[str, ...]) -> None:
    """What of them changed, or why that cannot matter."""
    ended = relay(*change, "--stage", "1")
    assert ended.out.splitlines() == [
        "README.md\tmodified\tdocs\tdocumentation: no test reads it",
        "torch/functional.py\tmodified\tpython source\troll_up",
    ]
    assert "stage 1 change: 1 of 2 changed files go on" in ended.err


def test_what_a_stage_lets_through_comes_to_the_next(relay: Relay, change: tuple[str, ...]) -> None:
    """Over all stages, also with a budget and a lot: none appears from nowhere, and the last has the plan."""
    cut = ("--budget", "1s", "--holdout", "1")
    went_on: set[str] | None = None
    for stage in ("2", "3", "4"):
        told = relay(*change, *cut, "--stage", stage, "--json").json
        assert isinstance(told, dict)
        came = {it["test"] for it in told["tests"]}
        drawn = {it["test"] for it in told["tests"] if any(reason["rule"] == HOLDOUT for reason in it["reasons"])}
        assert went_on is None or came - drawn <= went_on
        went_on = {it["test"] for it in told["tests"] if it["goes_on"]}
    assert drawn == {APART, FAR}
    assert went_on == {ROLL, APART, FAR} == set(relay(*change, *cut, "--format", "ids").out.splitlines())


def test_each_test_has_what_that_stage_said(relay: Relay, change: tuple[str, ...]) -> None:
    rows = [line.split("\t") for line in relay(*change, "--stage", "2", "--holdout", "1").out.splitlines()]
    assert [(name, goes_on) for name, goes_on, _ in rows] == [(ROLL, "goes on"), (APART, "goes on"), (FAR, "left out")]
    assert rows[0][2].startswith("mention: mentions roll_up")
    assert rows[2][2].startswith("not tied to the change")
    triage = [line.split("\t") for line in relay(*change, "--stage", "3").out.splitlines()]
    assert triage[0] == [ROLL, "goes on", "nothing of this test"]
    assert triage[1][2].startswith("offline ranker")
    cut = relay(*change, "--stage", "4", "--budget", "1s")
    assert [line.split("\t")[1] for line in cut.out.splitlines()] == ["runs", "left out"]
    assert cut.err.splitlines()[-1] == "stage 4 manifests: no manifests were applied"


def test_every_format(relay: Relay, change: tuple[str, ...]) -> None:
    assert relay(*change, "--stage", "2", "--format", "ids").out.splitlines() == [ROLL, APART]
    assert relay(*change, "--stage", "2", "--format", "pytest").out.startswith("test/test_functional.py -k ")
    lines = [json.loads(line) for line in relay(*change, "--stage", "2", "--format", "jsonl").out.splitlines()]
    assert [line["test"] for line in lines] == [ROLL, APART]
    told = relay(*change, "--stage", "1", "--json").json
    assert isinstance(told, dict)
    assert (told["stage"], told["name"], [it["path"] for it in told["files"]]) == (
        *(1, "change"),
        ["README.md", "torch/functional.py"],
    )
    assert relay(*change, "--stage", "2", "--json", "--fields", "test,goes_on").json == [
        {"test": ROLL, "goes_on": True},
        {"test": APART, "goes_on": True},
    ]


def test_a_name_narrows_it(relay: Relay, change: tuple[str, ...]) -> None:
    """And without a way to be narrowed it is refused, not overlooked."""
    assert [line.split("\t")[0] for line in relay(*change, "--stage", "2", "test_apart").out.splitlines()] == [APART]
    ended = relay(*change, "test_apart")
    assert (ended.code, ended.out) == (2, "")
    assert "`relay why TEST`" in ended.err


@pytest.mark.parametrize("line", [("--stage", "0"), ("--stage", "5"), ("--stage", "1", "--format", "ids")])
def test_what_makes_no_sense(relay: Relay, change: tuple[str, ...], line: tuple[str, ...]) -> None:
    assert relay(*change, *line).code == 2


def test_a_stage_that_was_not_come_to(relay: Relay, change: tuple[str, ...]) -> None:
    """Prose alone ends at stage 1."""
    repo = change[2]
    (Path(repo) / "README.md").write_text("other words\n")
    Repository(Path(repo)).commit({"README.md": "other words\n"})
    ended = relay("select", "--repo", repo, "--base", "HEAD~1", "--no-manifests", "--stage", "3")
    assert (ended.code, ended.out, ended.err.splitlines()[-1]) == (0, "", "stage 3 triage was not asked")
