"""`relay select` on a small checkout: the formats, the reasons, and exit code 0 when nothing is selected."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from relay.cli.change_options import seconds_of
from tests.relay.cli.conftest import Relay

FILES = {
    "torch/functional.py": "def roll_up(x):\n    return x\n",
    "torch/other.py": "def unrelated(x):\n    return x\n",
    "test/test_functional.py": (
        '# Owner(s): ["module: tests"]\n'
        "import torch\nfrom torch.testing._internal.common_utils import TestCase\n\n\n"
        "class TestRoll(TestCase):\n    def test_roll_up(self):\n        torch.functional.roll_up(1)\n"
    ),
    "README.md": "read me\n",
}
TEST = "test/test_functional.py::TestRoll::test_roll_up"
MANIFEST = """\
test_suite_config:
  files:
    - path: "${TORCH_ROOT}/test/test_nothing.py"
      unlisted_test_mode: skip
      tests: []
"""


def git(repo: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t.invalid"]
    subprocess.run(["git", "-C", repo, *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """HEAD~2 is the base, HEAD~1 changes source, HEAD changes words only."""
    root = tmp_path / "checkout"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "base")
    (root / "torch/functional.py").write_text("def roll_up(x):\n    return x + 1\n")
    git(root, "commit", "-q", "-am", "source")
    (root / "README.md").write_text("read me please\n")
    git(root, "commit", "-q", "-am", "words")
    return root


@pytest.fixture(autouse=True)
def catalog(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the user's catalog file is for these tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "oot-relay" / "catalog"


def test_ids_are_lines_of_their_own(relay: Relay, repo: Path) -> None:
    """Stdout can be piped; what else is to say goes to stderr."""
    ended = relay("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--format", "ids")
    assert ended.code == 0
    assert TEST in ended.out.splitlines()
    assert all(line.startswith("test/") for line in ended.out.splitlines())
    assert "selected" in ended.err


def test_nothing_selected_is_a_success(relay: Relay, repo: Path) -> None:
    """Exit code 0, no ids, and the difference between `nothing affected` and an error is in words."""
    ended = relay("select", "--repo", str(repo), "--base", "HEAD~1", "--no-manifests", "--format", "ids")
    assert (ended.code, ended.out) == (0, "")
    assert "no test is affected" in ended.err


@pytest.mark.parametrize("form", [("--json",), ("--format", "json"), ("--format=json",)])
def test_json_holds_funnel_and_reasons(relay: Relay, repo: Path, form: tuple[str, ...]) -> None:
    """One object with every considered test and why."""
    ended = relay("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", *form)
    assert isinstance(ended.json, dict)
    decisions = {decision["test"]: decision for decision in ended.json["decisions"]}
    assert decisions[TEST]["kept"]
    assert decisions[TEST]["reasons"][0]["stage"] == 2
    assert [step["stage"] for step in ended.json["funnel"]] == [1, 2, 3]
    assert ended.json["changed_files"][0]["path"]
    assert ended.err == ""


def test_json_holds_cost_counts_and_the_key(relay: Relay, repo: Path) -> None:
    """What the page says, for programs; the same command says the same again."""
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--json")
    told = relay(*line).json
    assert isinstance(told, dict)
    assert (len(told["plan_key"]), told["cost"]["expected_s"], told["cost"]["assumed"]) == (64, 1.0, 1)
    assert told["summary"]["counts"] == [
        {"decision": "must run", "rule": "mention", "tests": 1, "files": 1, "seconds": 1.0}
    ]
    decision = told["decisions"][0]
    assert (decision["decision"], decision["stage"], decision["plan"]) == ("must run", 2, told["plan_key"])
    assert 0 < len(decision["signals"]) <= 3
    assert relay(*line).json == told


def test_one_record_a_line_for_every_considered_test(relay: Relay, repo: Path) -> None:
    """Of all, or of those asked for."""
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--explain", "--format", "jsonl")
    records = [json.loads(text) for text in relay(*line).out.splitlines()]
    assert [(record["test"], record["decision"]) for record in records] == [(TEST, "must run")]
    assert relay(*line, "test_absent").out == ""


def test_the_page_says_what_runs_at_what_risk_and_what_would_change_it(relay: Relay, repo: Path) -> None:
    out = relay("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests").out
    rows = dict(line.split("\t", 1) for line in out.splitlines() if "\t" in line)
    assert rows["runs"] == "1 test in 1.0 s; all that can run here take 1.0 s"
    assert rows["durations"] == "assumed, none of these tests is on record"
    assert rows["risk"] == "none: everything that can run here does"
    assert rows["must run"] == "mention\t1\t1\t1.0 s"
    assert "--full" in rows["to change it"]


def test_everything_runs_when_that_is_asked_for(relay: Relay, repo: Path) -> None:
    """Also for a change of words alone."""
    ended = relay("select", "--repo", str(repo), "--base", "HEAD~1", "--no-manifests", "--full", "--format", "ids")
    assert ended.out.splitlines() == [TEST]
    assert "everything runs: asked for with --full" in ended.err


def test_a_budget_never_takes_what_must_run(relay: Relay, repo: Path) -> None:
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--format", "ids")
    ended = relay(*line, "--budget", "0s")
    assert ended.out.splitlines() == [TEST]
    assert "1.0 s more than the budget of 0 s" in ended.err


def test_what_is_left_out_can_run_by_lot(relay: Relay, repo: Path) -> None:
    (repo / "test/test_apart.py").write_text("class TestApart(TestCase):\n    def test_apart(self):\n        pass\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "apart")
    (repo / "torch/functional.py").write_text("def roll_up(x):\n    return x + 2\n")
    git(repo, "commit", "-q", "-am", "more")
    line = ("select", "--repo", str(repo), "--base", "HEAD~1", "--no-manifests", "--format", "ids")
    assert relay(*line).out.splitlines() == [TEST]
    assert len(relay(*line, "--holdout", "1").out.splitlines()) == 2


@pytest.mark.parametrize(
    ("given", "seconds"), [("600", 600), ("90s", 90), ("10m", 600), ("1h30m", 5_400), ("1.5h", 5_400)]
)
def test_lengths_of_time(given: str, seconds: float) -> None:
    assert seconds_of(given) == seconds


@pytest.mark.parametrize("option", [("--budget", "soon"), ("--budget", "-5"), ("--budget", ""), ("--holdout", "3")])
def test_wishes_that_mean_nothing_are_refused(relay: Relay, repo: Path, option: tuple[str, str]) -> None:
    """As a wrong command line, before anything is read."""
    ended = relay("select", "--repo", str(repo), "--base", "HEAD~2", *option)
    assert (ended.code, ended.out) == (2, "")
    assert option[0] in ended.err


def test_explain_tells_the_chain_of_the_named_tests(relay: Relay, repo: Path) -> None:
    """A part of the name is enough; an unknown one is said to be unknown."""
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--explain")
    ended = relay(*line, "test_roll_up", "test_absent")
    assert ended.out.startswith(f"{TEST}: must run")
    assert "\n  stage 2 " in ended.out
    assert "'test_absent'" in ended.err


def test_manifests_have_the_last_word(relay: Relay, repo: Path, tmp_path: Path) -> None:
    """A test in no manifest is left out by stage 4, still with exit code 0, and --explain names the rule."""
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "m.yaml").write_text(MANIFEST)
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--manifests", str(folder))
    ended = relay(*line, "--format", "ids")
    assert (ended.code, ended.out) == (0, "")
    assert "the manifests let none of them run" in ended.err
    explained = relay(*line, "--explain", "test_roll_up").out
    assert f"{TEST}: left out" in explained
    assert "\n  stage 4 " in explained


def test_bad_manifests_are_named_with_their_place(relay: Relay, repo: Path, tmp_path: Path) -> None:
    """File and line of the first fault, and the command that lists all."""
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "m.yaml").write_text(MANIFEST.replace("unlisted_test_mode: skip", "unlisted_test_mode: maybe"))
    ended = relay("select", "--repo", str(repo), "--base", "HEAD~2", "--manifests", str(folder), "--json")
    assert (ended.code, ended.error["code"]) == (1, "bad_manifests")
    assert "m.yaml:4" in ended.error["message"]
    assert "relay manifest check" in ended.error["hint"]


def test_missing_manifest_folder_is_said(relay: Relay, repo: Path, tmp_path: Path) -> None:
    """Not silently taken for `no manifests`."""
    ended = relay("select", "--repo", str(repo), "--base", "HEAD~2", "--manifests", str(tmp_path / "absent"))
    assert ended.code == 1
    assert "--no-manifests" in ended.err


def test_model_that_does_not_answer_costs_nothing_but_time(
    relay: Relay, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configured and unreachable model leads to the same must-run tests as no model."""
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--format", "ids")
    offline = relay(*line, "--no-llm")
    monkeypatch.setenv("RELAY_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RELAY_LLM_MODEL", "none")
    asked = relay(*line)
    assert (asked.code, asked.out) == (0, offline.out)


def test_what_was_read_of_the_tests_is_kept_for_the_user(relay: Relay, repo: Path, catalog: Path) -> None:
    """The answer is the same from it and without it; a damaged one is a note."""
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--format", "ids")
    first = relay(*line)
    assert catalog.is_file()
    assert relay(*line) == first
    catalog.write_bytes(b"damaged")
    rebuilt = relay(*line)
    assert (rebuilt.code, rebuilt.out) == (0, first.out)
    assert "is damaged" in rebuilt.err
    assert relay(*line) == first


def test_what_changed_together_before_counts(relay: Relay, repo: Path, catalog: Path) -> None:
    """A test whose text only imports what changes has its past beside the import for a reason."""
    stripes = "import torch.functional\n\n\nclass TestStripes:\n    def test_stripes(self): pass\n"
    for count in range(9):
        (repo / "torch/functional.py").write_text(f"def roll_up(x):\n    return x + {count}\n")
        (repo / "test/test_zebra.py").write_text(f"{stripes}# {count}\n")
        git(repo, "add", ".")
        git(repo, "commit", "-q", "-m", "both")
    (repo / "torch/functional.py").write_text("def roll_up(x):\n    return x\n")
    git(repo, "commit", "-q", "-am", "source")
    done = relay("select", "--repo", str(repo), "--no-manifests", "--explain", "test_stripes", "--base", "HEAD~1")
    assert "changed with torch/functional.py" in done.out, done
    assert catalog.with_name("history").is_file()


def test_a_user_without_a_home_keeps_nothing(relay: Relay, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(Path, "home", _no_home)
    assert relay("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests").code == 0
    assert not Path("relative").exists()


def _no_home() -> Path:
    raise RuntimeError("no home folder")
