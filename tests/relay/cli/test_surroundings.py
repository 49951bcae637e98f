"""What is around a command is unfit: a database that is away, a folder that is none. One error, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relay.cli.database import telling_of_the_database
from relay.cli.streams import UnusableFile, unusable_file
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import closed_port

MANIFEST = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: skip
      tests: []
"""


@pytest.mark.parametrize("command", ["up", "serve", "background"])
def test_a_database_that_is_away(tmp_path: Path, command: str) -> None:
    """In a process of its own: a service sets up logging for all of it."""
    with closed_port() as url:
        port = url.rpartition(":")[2]
        line = [sys.executable, "-m", "relay", command, *(() if command == "background" else ("--port", "0"))]
        given = {
            "RELAY_DATABASE_URL": f"postgresql://user:geheim@127.0.0.1:{port}/relay",
            "RELAY_STATE_DIR": str(tmp_path),
            "RELAY_MANIFEST_DIR": str(tmp_path),
        }
        done = subprocess.run(
            line, capture_output=True, text=True, env={**os.environ, **given}, check=False, timeout=60
        )
    assert (done.returncode, done.stdout) == (1, "")
    error, hint = [line for line in done.stderr.splitlines() if line.startswith(("error: ", "hint: "))]
    assert f"the database postgresql://user:***@127.0.0.1:{port}/relay cannot be used" in error
    assert "RELAY_DATABASE_URL" in hint
    assert "Traceback" not in done.stderr
    assert "geheim" not in done.stderr


def test_other_failures_go_through() -> None:
    """Only what a database says is told as one of the database."""
    with pytest.raises(ZeroDivisionError), telling_of_the_database("sqlite://"):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "line",
    [
        "manifest migrate many --output {}/below",
        "manifest export m.yaml --set-test-configs --ids ids.json --output {}/below",
        "manifest generate --from results.xml --output {}/below",
    ],
)
def test_a_file_in_the_place_of_a_folder(
    relay: Relay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Whatever command is to write there."""
    monkeypatch.chdir(tmp_path)
    Path("many").mkdir()
    for name in ("many/m.yaml", "m.yaml"):
        Path(name).write_text(MANIFEST)
    Path("ids.json").write_text('["test/test_a.py::TestASPYRE::test_a_spyre_int8"]')
    Path("results.xml").write_text('<testsuite><testcase classname="test_a.TestASPYRE" name="test_a"/></testsuite>')
    Path("file").write_text("")
    ended = relay(*line.format("file").split())
    assert (ended.code, ended.out) == (1, "")
    assert [row.partition(":")[0] for row in ended.err.splitlines()][-2:] == ["error", "hint"]
    assert "file" in ended.err


def test_such_a_file_is_named() -> None:
    """Also one whose name is no text."""
    told = unusable_file(FileNotFoundError(2, "No such file or directory", b"a\xff"))
    assert isinstance(told, UnusableFile)
    assert told.message == "a\udcff cannot be used: No such file or directory"


def test_a_bug_is_no_unusable_file(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is not about a file is raised: its trace is what there is to go by."""
    monkeypatch.setattr("relay.cli.checks.installed_version", _broken)
    with pytest.raises(OSError, match="ours"):
        relay("version")


def _broken(_package: str) -> str:
    raise OSError("ours")
