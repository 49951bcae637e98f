"""`relay allowlist check` prints what editors and CI jump from; `relay allowlist show` what the relay goes by."""

from __future__ import annotations

import io
import json
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relay.allowlist.fetching import TextSource
from relay.allowlist.source import RemoteAllowlist
from relay.allowlist.types import AllowlistUnavailableError
from relay.cli import run
from relay.settings import RelaySettings
from relay.store.engine import Store, open_engine, upgrade_database

GOOD = "L1:\n  - a/l1\nL3:\n  npu:\n    a/l3: {oncalls: [x, y], events: [pull_request]}\n"
BAD = "L1:\n  - a/l1\n  - ab\nL4: A/L1\nl2: []\n"
AT = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(name: str, content: str | bytes) -> None:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def test_a_good_list_prints_nothing_but_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is named twice counts once."""
    _write("list.yml", GOOD)
    assert run(["allowlist", "check", "list.yml", "list.yml"]) == 0
    assert capsys.readouterr() == ("", "1 file: 0 errors, 0 warnings\n")


def test_what_is_wrong_is_a_line_each_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    """In the form file:line:column: message, warnings marked as such."""
    _write("bad.yml", BAD)
    _write("good.yml", GOOD)
    assert run(["allowlist", "check", "bad.yml", "good.yml"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "bad.yml:3:5: 'ab' is no repository; write owner/repo",
        "bad.yml:4:5: L4 must be a list of repositories, not 'A/L1'",
        "bad.yml:5:1: warning: unknown key 'l2' (did you mean L2?); what is below it is ignored",
    ]
    assert err == "2 files: 2 errors, 1 warning\n"


def test_warnings_alone_are_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    """They are printed all the same."""
    _write("list.yml", "L5: []")
    assert run(["allowlist", "check", "list.yml"]) == 0
    assert capsys.readouterr().out.startswith("list.yml:1:1: warning: ")


def test_json_and_annotations(capsys: pytest.CaptureFixture[str]) -> None:
    """For programs, and for a workflow run on GitHub."""
    _write("list.yml", "L1: [ab]")
    for option in ("--json", "--format=json"):
        assert run(["allowlist", "check", "list.yml", option]) == 1
        (found,) = json.loads(capsys.readouterr().out)
        assert found == {
            "file": "list.yml",
            "line": 1,
            "column": 6,
            "severity": "error",
            "message": "'ab' is no repository; write owner/repo",
        }
    assert run(["allowlist", "check", "list.yml", "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=list.yml,line=1,col=6,title=allowlist::'ab' is no")


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A list need not be a file, nor text: bytes that are none are a finding."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"L1: [\xff]")))
    assert run(["allowlist", "check", "-"]) == 1
    assert capsys.readouterr().out == "-:1:6: not UTF-8 text\n"


def test_what_a_list_says_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """A list comes with a pull request; its text is shown escaped."""
    _write("list.yml", 'L1: ["\\e[2Ja"]')
    assert run(["allowlist", "check", "list.yml"]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_ci_providers_are_checked_by_their_own_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    """What is skipped there is a warning."""
    _write("p.yml", "providers: {buildkite: {repo_map: {o1: a/b}}}")
    assert run(["allowlist", "check", "--providers", "p.yml"]) == 0
    assert "this entry is skipped" in capsys.readouterr().out


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence with a next step."""
    assert run(["allowlist", "check", "missing.yml"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "missing.yml cannot be read: No such file or directory" in err
    assert "hint: " in err


def _read(url: str) -> None:
    """What a running relay does."""
    engine = open_engine(RelaySettings().database_url)
    upgrade_database(engine)
    source = RemoteAllowlist(url, store=Store(engine), fetch=TextSource().fetch, now=lambda: AT)
    with suppress(AllowlistUnavailableError):
        source.refresh()
    engine.dispose()


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a good list, told to the relay."""
    _write("list.yml", GOOD)
    url = (tmp_path / "list.yml").as_uri()
    monkeypatch.setenv("RELAY_ALLOWLIST_URL", url)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / "state"))
    return url


def test_the_list_in_force_is_shown(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As the record has it, with what keeps a newer one out."""
    _read(url)
    assert run(["allowlist", "show"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "L1\ta/l1\t\tnightly pull_request\t",
        "L3\ta/l3\tnpu\tpull_request\tx y",
    ]
    assert err == f"2 backends, read {AT.isoformat()}\n"
    _write("list.yml", BAD)
    _read(url)
    capsys.readouterr()  # what the relay itself has logged
    assert run(["allowlist", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [backend["repo"] for backend in shown["backends"]] == ["a/l1", "a/l3"]
    assert shown["backends"][1] == {
        "level": "L3",
        "repo": "a/l3",
        "device": "npu",
        "events": ["pull_request"],
        "oncalls": ["x", "y"],
        "line": 5,
    }
    assert "line 3:5" in shown["problem"]
    assert run(["allowlist", "show"]) == 0
    assert "warning: a newer list is not in force: " in capsys.readouterr().err


@pytest.mark.embedded("about the file that is not there yet")
def test_before_a_relay_has_read_it(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to show, and looking makes no record."""
    assert run(["allowlist", "show"]) == 1
    assert "no relay has read its allowlist yet" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()
    engine = open_engine(f"sqlite:///{tmp_path}/state/relay.db")
    engine.connect().close()
    engine.dispose()
    assert run(["allowlist", "show", "--json"]) == 1
    assert "the record cannot be read" in json.loads(capsys.readouterr().out)["message"]
    _read((tmp_path / "another.yml").as_uri())
    capsys.readouterr()
    assert run(["allowlist", "show", "--json"]) == 1
    assert "it was not read yet" in json.loads(capsys.readouterr().out)["message"]
    assert url.startswith("file:")


def test_a_relay_without_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    """Is told which variable gives it one."""
    assert run(["allowlist", "show"]) == 1
    assert "RELAY_ALLOWLIST_URL is not set" in capsys.readouterr().err


def test_an_unreadable_database_url_is_not_repeated(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may hold a password."""
    monkeypatch.setenv("RELAY_DATABASE_URL", "hunter2 is no url")
    assert run(["allowlist", "show"]) == 1
    assert "hunter2" not in "".join(capsys.readouterr())
    assert url
