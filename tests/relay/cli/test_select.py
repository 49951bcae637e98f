"""`relay select` on a small checkout: the formats, the reasons, and exit code 0 when nothing is selected."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

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


def test_explain_tells_the_chain_of_the_named_tests(relay: Relay, repo: Path) -> None:
    """A part of the name is enough; an unknown one is said to be unknown."""
    line = ("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests", "--explain")
    ended = relay(*line, "test_roll_up", "test_absent")
    assert ended.out.startswith(f"{TEST}: selected")
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
    assert "none selected" in ended.err
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


def test_a_user_without_a_home_keeps_nothing(relay: Relay, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(Path, "home", _no_home)
    assert relay("select", "--repo", str(repo), "--base", "HEAD~2", "--no-manifests").code == 0
    assert not Path("relative").exists()


def _no_home() -> Path:
    raise RuntimeError("no home folder")
