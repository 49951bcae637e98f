"""`relay run logs`, `run view --log|--web` and `run failures`: all there is, in order, and no more than asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest

from relay.cli import run_lines
from relay.cli.run_failures import fitting
from relay.contract import Decision, Expected, LogKind, ReasonMessage
from relay.views import Conclusion, RunState, Verdict
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_failure, a_run, events_of
from tests.relay.stand_in_log import USUAL, a_line

REASON = ReasonMessage(stage=2, rule="mention", evidence="mentions relu\x1b[2J", score=0.6)


def test_logs_are_all_lines_in_order(relay: Relay, service: StandIn) -> None:
    """Over any number of pages; off a terminal with tabs between shard, seconds, kind and text."""
    service.log.page_lines = 2
    lines = relay("run", "logs", "1").out.splitlines()
    assert [line.split("\t")[3] for line in lines] == [line.text for line in USUAL]
    assert lines[3] == f"2.1\t1.000\tfailure\t{USUAL[3].text}"
    assert service.log.asked == ["", "1.2", "1.4"]


def test_logs_of_a_shard_or_an_attempt(relay: Relay, service: StandIn) -> None:
    service.log.lines = [*USUAL, a_line(7, "again", shard=2, attempt=2)]
    assert len(relay("run", "logs", "1", "--shard", "2").out.splitlines()) == 5
    assert relay("run", "logs", "1", "--shard", "2", "--attempt", "2").out == "2.2\t1.750\ttest\tagain\n"


@pytest.mark.parametrize("command", [("logs",), ("view",)])
def test_a_shard_that_is_not_there_is_answered_with_those_that_are(
    relay: Relay, service: StandIn, command: tuple[str, ...]
) -> None:
    ended = relay("run", *command, "1", "--shard", "9")
    assert ended.code == 2
    assert "run 1 has no shard 9; its shards are: 1, 2" in ended.err


def test_logs_as_ndjson(relay: Relay, service: StandIn) -> None:
    """A line a line, narrowed by --fields."""
    out = relay("run", "logs", "1", "--json", "--fields", "shard,kind").out
    told = [json.loads(line) for line in out.splitlines()]
    assert told[:3] == [{"shard": 1, "kind": "step"}, {"shard": 1, "kind": "test"}, {"shard": 2, "kind": "step"}]


def test_logs_of_a_run_under_way_say_how_to_wait(relay: Relay, service: StandIn) -> None:
    """They end with what there is."""
    ended = relay("run", "logs", "2")
    assert ended.code == 0
    assert len(ended.out.splitlines()) == len(USUAL)
    assert "relay run logs 2 --follow" in ended.err


def test_logs_follow_to_the_end(relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also past a service that is away for a moment."""
    monkeypatch.setattr(run_lines, "LOOK_S", 0.0)
    service.log.growing = [[a_line(7, "seven")], [], [a_line(8, "eight"), a_line(9, "nine")]]
    service.log.away = [503, 429]
    ended = relay("run", "logs", "2", "--follow")
    assert ended.code == 0
    assert [line.split("\t")[3] for line in ended.out.splitlines()][6:] == ["seven", "eight", "nine"]


def test_a_service_that_stays_away_is_not_followed_for_ever(
    relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lines, "LOOK_S", 0.0)
    service.log.away = [503] * 100
    assert relay("run", "logs", "2", "--follow").code == 1
    assert len(service.log.away) == 90


def test_a_run_without_lines_says_where_to_look(relay: Relay, service: StandIn) -> None:
    service.log.lines = []
    ended = relay("run", "logs", "1")
    assert (ended.code, ended.out) == (0, "")
    assert "relay run logs 1 --events" in ended.err


def test_a_service_that_keeps_no_logs_is_not_a_run_that_is_missing(relay: Relay, service: StandIn) -> None:
    service.log.kept = False
    error = relay("run", "logs", "1", "--json").error
    assert (error["code"], "keeps no logs" in error["message"]) == ("bad_reply", True)
    assert relay("run", "logs", "1", "--events").code == 0


def test_nothing_that_a_test_printed_moves_the_terminal(relay: Relay, service: StandIn) -> None:
    service.log.lines = [a_line(1, "x\x1b[2J\u202ey\tz")]
    assert relay("run", "logs", "1").out == "1.1\t0.250\ttest\tx\ufffd[2J\ufffdy z\n"


def test_events_are_what_happened_to_the_run(relay: Relay, service: StandIn) -> None:
    """Over any number of pages, and followed to the end; off a terminal with their whole time."""
    service.events, service.events_per_stream = events_of(1, 5), 2
    lines = relay("run", "logs", "1", "--events").out.splitlines()
    assert [line.split("  ")[1] for line in lines] == [f"event {number}" for number in range(1, 6)]
    assert lines[0].startswith("2024-05-04T10:00:00+00:00")
    out = relay("run", "logs", "1", "--events", "--json", "--fields", "id,text").out
    assert json.loads(out.splitlines()[0]) == {"id": 1, "text": "event 1"}
    service.finish_after_streams = 3
    followed = relay("run", "logs", "2", "--events", "--follow")
    assert (followed.code, len(followed.out.splitlines()), followed.err) == (0, 5, "")


def test_events_have_no_shard(relay: Relay, service: StandIn) -> None:
    ended = relay("run", "logs", "1", "--events", "--shard", "1")
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize("command", ["logs", "failures"])
def test_an_unknown_run(relay: Relay, service: StandIn, command: str) -> None:
    assert relay("run", command, "44", "--json").error["code"] == "not_found"


def test_view_with_its_log(relay: Relay, service: StandIn) -> None:
    """After the report, or inside the object."""
    ended = relay("run", "view", "1", "--log")
    assert ended.out.index("AssertionError") < ended.out.index("collecting") < ended.out.index("on base")
    told = relay("run", "view", "1", "--log", "--json").json
    assert isinstance(told, dict)
    assert [line["number"] for line in told["log"]] == [1, 2, 3, 4, 5, 6]
    assert "log" not in str(relay("run", "view", "1", "--json", "--fields", "run.id").json)


def test_view_of_a_part_of_its_log(relay: Relay, service: StandIn) -> None:
    """A shard or an attempt alone asks for the log; what failed comes with what was printed about it."""
    told = relay("run", "view", "1", "--shard", "1", "--json").json
    assert isinstance(told, dict)
    assert [line["shard"] for line in told["log"]] == [1, 1]
    failed = relay("run", "view", "1", "--log-failed", "--json").json
    assert isinstance(failed, dict)
    assert [line["number"] for line in failed["log"]] == [4, 5]
    service.log.lines = [*USUAL[:3]]
    assert "nothing failed in the log of run 1" in relay("run", "view", "1", "--log-failed").err
    assert relay("run", "view", "1", "--log", "--log-failed").code == 2


def test_what_failed_keeps_its_lines_when_shards_speak_by_turns() -> None:
    lines = [
        a_line(1, "a", LogKind.FAILURE, shard=1),
        a_line(2, "b", LogKind.TEST, shard=2),
        a_line(3, "of a", LogKind.OUTPUT, shard=1),
        a_line(4, "of b", LogKind.OUTPUT, shard=2),
        a_line(5, "c", LogKind.TEST, shard=1),
        a_line(6, "of c", LogKind.OUTPUT, shard=1),
    ]
    assert [line.number for line in run_lines.failed_only(lines)] == [1, 3]


def test_view_opens_the_page(service: StandIn, tmp_path: Path) -> None:
    """In the browser that BROWSER names."""
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}\n')
    browser.chmod(0o755)

    command = [sys.executable, "-m", "relay", "run", "view", "1", "--web"]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "opening http://relay.invalid/runs/1\n")
    assert seen.read_text() == "http://relay.invalid/runs/1"


def test_a_machine_without_a_browser(relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is said, for another machine."""
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    ended = relay("run", "view", "1", "--web", "--json")
    assert (ended.code, ended.error["code"]) == (1, "no_browser")
    assert "http://relay.invalid/runs/1" in ended.error["message"]


def test_failures_say_what_failed_why_it_ran_and_how_to_run_it_again(relay: Relay, service: StandIn) -> None:
    service.decisions = [Decision(test=a_failure().base, kept=True, must_run=False, reasons=(REASON,))]
    ended = relay("run", "failures", "1")
    parts = [
        "failure  1 regression in 3 tests",
        "http://relay.invalid/runs/1",
        "regression  test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32",
        "mandatory_success by listed (ops.yaml:12)",
        "2 mention: mentions relu",
        "| AssertionError",
        "relay run rerun 1 --test test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32",
    ]
    places = [ended.out.index(part) for part in parts]
    assert places == sorted(places)
    assert "\x1b" not in ended.out
    assert ended.err == "next: relay run rerun 1 --failed\n"
    told = relay("run", "failures", "1", "--json").json
    assert isinstance(told, dict)
    assert (told["total"], told["left_out"], told["failures"][0]["attempts"]) == (1, 0, ["head 1: failed"])
    assert told["failures"][0]["reasons"] == [{"stage": 2, "rule": "mention", "evidence": "mentions relu\x1b[2J"}]


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("detail", ["x" * 5_000, "\N{CROSS MARK}" * 5_000], ids=["ascii", "wide"])
def test_failures_never_write_more_than_they_may(
    relay: Relay, service: StandIn, form: tuple[str, ...], detail: str
) -> None:
    """Details are cut in whole characters first, then failures are left out and counted."""
    service.failures = [a_failure(detail).model_copy(update={"id": f"test/t.py::T::test_{n}"}) for n in range(30)]
    for most in (4_000, 30_000):
        ended = relay("run", "failures", "1", "--max-bytes", str(most), *form)
        assert 1_000 < len(ended.out.encode()) <= most
        assert "\N{REPLACEMENT CHARACTER}" not in ended.out
    told = relay("run", "failures", "1", "--max-bytes", "4000", "--json").json
    assert isinstance(told, dict)
    assert len(told["failures"]) + told["left_out"] == told["total"] == 30
    assert "do not fit in --max-bytes" in relay("run", "failures", "1", "--max-bytes", "4000").err


def test_a_detail_that_fits_is_whole() -> None:
    """Nothing is cut for its own sake."""
    from relay.cli.run_failures import Failed

    failed = Failed(a_failure("y" * 3_000), (), "")
    told = fitting(a_run(1, RunState.FINISHED, Conclusion.FAILURE), [failed], 1, 60_000, as_json=True)
    assert told.as_object()["failures"] == [failed.as_object(3_000)]
    assert "…" not in str(told.as_object())


def test_a_strict_expectation_that_passes_is_a_failure(relay: Relay, service: StandIn) -> None:
    """It makes the run red, so it is named; a plain one is not."""
    service.runs[1] = service.runs[1].model_copy(update={"verdicts": {Verdict.XPASS: 2}})
    passes = {"verdict": Verdict.XPASS}
    service.failures = [
        a_failure().model_copy(update={**passes, "id": "t.py::T::test_strict", "expected": Expected.XFAIL_STRICT}),
        a_failure().model_copy(update={**passes, "id": "t.py::T::test_plain", "expected": Expected.XFAIL}),
    ]
    told = relay("run", "failures", "1", "--json", "--fields", "total,failures.id").json
    assert told == {"total": 1, "failures": [{"id": "t.py::T::test_strict"}]}


def test_a_green_run_has_none(relay: Relay, service: StandIn) -> None:
    """Which is said, with exit code 0."""
    service.failures = []
    ended = relay("run", "failures", "3")
    assert ended.code == 0
    assert "run 3 is success and has no failure" in ended.err
