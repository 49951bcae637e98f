"""The account of a folder of manifests counts what is there, and says of a rejected one why."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

GOOD = """\
test_suite_config:
  labels: [unit]
  files:
    - path: ${TORCH_ROOT}/test/%s.py
      unlisted_test_mode: skip
      tests:
        - names: [test_a, test_b]
        - names: [test_a]
          mode: xfail
"""
GLOBAL = "  global:\n    supported_ops:\n" + "".join(f"      - op{number}\n" for number in range(30))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.yaml").write_text(GOOD % name + GLOBAL, encoding="utf-8")
    return folder


def account(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["real_manifests", *arguments])
    # Other tests may have imported the module, and running a module that is imported is a warning.
    monkeypatch.delitem(sys.modules, "tests.benchmarks.real_manifests", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("tests.benchmarks.real_manifests", run_name="__main__")
    return int(ended.value.code or 0)


def test_what_is_there_is_counted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    assert account(monkeypatch, str(folder), "--json", str(out)) == 0
    printed = capsys.readouterr().out
    assert "3 files, 0.0 MB: 3 accepted, 0 rejected" in printed
    assert "3 file blocks, 6 entries, 9 names (6 mandatory_success, 3 xfail)" in printed
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["findings"] == {"shadowed-entry": 3, "copied-global": 3}
    assert figures["most_in_one"]["shadowed-entry"] == ["a.yaml", 1]
    assert figures["identical_globals"] == [3]
    assert figures["repeated_methods"] == 3


def test_a_rejected_manifest_is_named_with_its_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "d.yaml").write_text("model: x\n", encoding="utf-8")
    assert account(monkeypatch, str(folder)) == 1
    printed = capsys.readouterr().out
    assert "4 files, 0.0 MB: 3 accepted, 1 rejected" in printed
    assert "  rejected: d.yaml:1:1: the key `test_suite_config` is missing" in printed


def test_an_upstream_tree_adds_its_rules(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "up" / "test").mkdir(parents=True)
    (tmp_path / "up" / "test" / "a.py").write_text("", encoding="utf-8")
    assert account(monkeypatch, str(folder), "--upstream", str(tmp_path / "up")) == 0
    assert "removed-file               2 in 2 manifests" in capsys.readouterr().out
