"""`relay run report`: a file that is there whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay.cli.report_file import write_report
from relay.client import Unreachable
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn


def test_the_report_is_what_the_service_writes(relay: Relay, service: StandIn, tmp_path: Path) -> None:
    file = tmp_path / "out.xml"
    done = relay("run", "report", "3", "--junit", str(file))
    assert (done.code, done.out) == (0, "")
    assert "run 3 is written to" in done.err
    assert file.read_text() == '<testsuites name="run 3"/>'
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []
    told = json.loads(relay("run", "report", "3", "--junit", str(file), "--json").out)
    assert told == {"run": 3, "file": str(file), "bytes": len(file.read_bytes())}


def test_a_dash_is_standard_output_and_nothing_else_goes_there(relay: Relay, service: StandIn) -> None:
    done = relay("run", "report", "3", "--junit", "-", "--json")
    assert (done.code, done.out, done.err) == (0, '<testsuites name="run 3"/>', "")


def test_a_red_run_is_told_by_the_exit_code_on_request(relay: Relay, service: StandIn, tmp_path: Path) -> None:
    assert relay("run", "report", "1", "--junit", str(tmp_path / "a.xml")).code == 0
    assert relay("run", "report", "1", "--junit", str(tmp_path / "a.xml"), "--exit-status").code == 5


def test_an_unfinished_or_unknown_run_leaves_the_file_alone(relay: Relay, service: StandIn, tmp_path: Path) -> None:
    file = tmp_path / "out.xml"
    file.write_text("old")
    assert relay("run", "report", "2", "--junit", str(file), "--json").error["code"] == "run_unfinished"
    assert relay("run", "report", "77", "--junit", str(file), "--json").error["code"] == "not_found"
    assert file.read_text() == "old"


def test_a_folder_that_is_not_there_is_one_sentence(relay: Relay, service: StandIn, tmp_path: Path) -> None:
    failed = relay("run", "report", "3", "--junit", str(tmp_path / "none" / "out.xml"), "--json").error
    assert failed["code"] == "report_unwritable"
    assert "No such file or directory" in failed["message"]


def test_a_stream_that_breaks_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "out.xml"
    file.write_text("old")

    def breaking() -> Iterator[bytes]:
        yield b"<testsuites>"
        raise Unreachable("the connection broke")

    with pytest.raises(Unreachable):
        write_report(breaking(), str(file))
    assert file.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.xml"]
