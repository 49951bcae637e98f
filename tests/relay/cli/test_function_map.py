"""`relay map record` writes a map, and `relay select --map` selects by it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.relay.cli.conftest import Relay


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A test file that calls what it tests by a name that no reader could follow."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "checkout"
    files = {
        "torch/nothing.py": "",
        "test/support.py": "def odd_name():\n    return 1\n",
        "test/test_zebra.py": "import support\n\ndef test_stripes(): getattr(support, 'odd' + '_name')()\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "base"]):
        identity = ["-c", "user.name=t", "-c", "user.email=t@t.invalid"]
        subprocess.run(["git", "-C", root, *identity, *arguments], check=True)
    return root


def test_a_recorded_map_ties_a_test_to_what_it_executes(relay: Relay, repo: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "map")
    line = ("map", "record", "--tree", str(repo), "--out", path, "--device", "cpu", "--file", "test/test_zebra.py")
    recorded = relay(*line)
    assert (recorded.code, recorded.out) == (0, f"{path}: 1 test files recorded, 1 files and 1 tests in the map\n")
    diff = tmp_path / "diff"
    (repo / "test/support.py").write_text("def odd_name():\n    return 2\n")
    diff.write_bytes(subprocess.run(["git", "-C", repo, "diff"], check=True, capture_output=True).stdout)
    local = ("--repo", str(repo), "--diff", str(diff), "--no-manifests", "--map", path)
    for command in (("select", *local, "--explain"), ("why", "test_stripes", *local)):
        assert "executed test/support.py: odd_name when last recorded" in relay(*command).out


def test_what_cannot_be_recorded_or_read_is_said(relay: Relay, repo: Path, tmp_path: Path) -> None:
    line = ("map", "record", "--tree", str(repo), "--out", str(tmp_path / "map"), "--device", "cpu")
    nothing = relay(*line, "--file", "test/test_gone.py")
    assert nothing.code == 1
    assert "test/test_gone.py is not recorded" in nothing.err
    asked = ("select", "--repo", str(repo), "--base", "HEAD", "--map", str(tmp_path / "gone"))
    missing = relay(*asked)
    assert missing.code == 1
    assert "cannot be read: No such file or directory" in missing.err
    assert "relay map record" in missing.err
    assert relay(*asked, "--json").error["code"] == "bad_map"
