"""`relay manifest stale` prints what editors jump from, with the edit below it, and exits by what was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay.cli import run
from tests.selector.upstream import Repository

MANIFEST = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: skip
      tests:
        - names: [TestA::test_one_cpu, TestA::test_two]
"""
UPSTREAM = (
    "from unittest import TestCase\nclass TestA(TestCase):\n    def test_one(self): ...\n    def test_%s(self): ...\n"
)


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A checkout of two commits: `test_two` was there in `old`, `test_new` is there now; the manifest is `m.yaml`."""
    (tmp_path / "m.yaml").write_text(MANIFEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "up").mkdir()
    repository = Repository(tmp_path / "up")
    repository.commit({"test/test_a.py": UPSTREAM % "two"})
    repository.git("tag", "old")
    repository.commit({"test/test_a.py": UPSTREAM % "new"})
    return repository


def test_each_finding_is_a_line_with_its_edit_below(upstream: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0: it worked."""
    assert run(["manifest", "stale", "--upstream", "up", "--since", "old", "m.yaml"]) == 0
    assert capsys.readouterr() == (
        """\
m.yaml:3:13: 1 new test of test/test_a.py is not listed and falls under `skip`
    edit: add
    - names:
        - TestA::test_new
      mode: skip
m.yaml:6:19: `test_one_cpu` is a generated variant, which never matches; its base is `test_one`
    edit: write `TestA::test_one`, which takes all of its variants
m.yaml:6:40: test/test_a.py has no `test_two`
    edit: delete this name
""",
        "1 new tests finding, 1 variant name finding, 1 dead name finding\n",
    )


def test_a_commit_is_read_without_being_checked_out(upstream: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """In `old` the second name was alive."""
    assert run(["manifest", "stale", "--upstream", "up", "--rev", "old", "m.yaml"]) == 0
    assert "`test_two`" not in capsys.readouterr().out


def test_json_is_a_list_of_findings(upstream: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """With everything a program needs to make the edit."""
    assert run(["manifest", "stale", "--upstream", "up", "m.yaml", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert [finding["kind"] for finding in findings] == ["unlisted_tests", "variant_name", "dead_name"]
    assert findings[2] == {
        "kind": "dead_name",
        "manifest": "m.yaml",
        "line": 6,
        "column": 40,
        "file": "test/test_a.py",
        "names": ["TestA::test_two"],
        "message": "test/test_a.py has no `test_two`",
        "edit": "delete this name",
        "certain": True,
    }


def test_github_gets_annotations(upstream: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that never matches is a warning, a test nobody listed yet a notice; the edit is in the message."""
    assert run(["manifest", "stale", "--upstream", "up", "--since", "old", "--format", "github", "m.yaml"]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("::notice file=m.yaml,line=3,col=13,title=new_tests::1 new test of test/test_a.py")
    assert second.startswith("::warning file=m.yaml,line=6,col=19,title=variant_name::`test_one_cpu` is a generated")
    assert third == (
        "::warning file=m.yaml,line=6,col=40,title=dead_name::test/test_a.py has no `test_two`; delete this name"
    )


def test_exit_status_tells_stale_names_from_unlisted_tests(
    upstream: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unlisted tests alone are what most manifests want."""
    command = ["manifest", "stale", "--upstream", "up", "m.yaml", "--exit-status"]
    assert run(command) == 5
    Path("m.yaml").write_text(MANIFEST.replace("[TestA::test_one_cpu, TestA::test_two]", "test_one"), encoding="utf-8")
    assert run(command) == 0
    assert capsys.readouterr().err.endswith("1 unlisted tests finding\n")


def test_without_findings_that_is_said(upstream: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr: there is no data."""
    Path("m.yaml").write_text(MANIFEST.replace("[TestA::test_one_cpu, TestA::test_two]", "test_.*"), encoding="utf-8")
    assert run(["manifest", "stale", "--upstream", "up", "m.yaml"]) == 0
    assert capsys.readouterr() == ("", "nothing is stale\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--upstream", "nowhere", "m.yaml"], "error: there is no upstream tree nowhere"),
        (["--upstream", "up", "--rev", "no-such", "m.yaml"], "error: git ls-tree failed in up: "),
        (["--upstream", "up", "nowhere.yaml"], "error: there is no file or folder nowhere.yaml"),
        (["--upstream", "up", "up"], "error: up holds no *.yaml file"),
        (["--upstream", "up", "bad.yaml"], "error: the manifests cannot be used: bad.yaml:1:1: "),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_a_hint(
    upstream: Repository, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Exit code 1, nothing on stdout."""
    Path("bad.yaml").write_text("{}", encoding="utf-8")
    assert run(["manifest", "stale", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert "\nhint: " in err
