"""`relay run logs`, `run view --log|--web` and `run failures`: all there is, in order, and no more than asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest

from relay.cli.run_failures import fitting
from relay.contract import Decision, Expected, ReasonMessage
from relay.views import Conclusion, RunState, Verdict
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_failure, a_run, events_of

REASON = ReasonMessage(stage=2, rule="mention", evidence="mentions relu\x1b[2J", score=0.6)


def test_logs_are_all_events_in_order(relay: Relay, service: StandIn) -> None:
    """Over any number of pages; off a terminal with their whole time."""
    service.events, service.events_per_stream = events_of(1, 5), 2
    lines = relay("run", "logs", "1").out.splitlines()
    assert [line.split("  ")[1] for line in lines] == [f"event {number}" for number in range(1, 6)]
    assert lines[0].startswith("2024-05-04T10:00:00+00:00")


def test_logs_as_ndjson(relay: Relay, service: StandIn) -> None:
    """An event a line, narrowed by --fields."""
    out = relay("run", "logs", "1", "--json", "--fields", "id,text").out
    assert [json.loads(line) for line in out.splitlines()] == [
        {"id": 1, "text": "event 1"},
        {"id": 2, "text": "event 2"},
    ]


def test_logs_of_a_run_under_way_say_how_to_wait(relay: Relay, service: StandIn) -> None:
    """They end with what there is."""
    ended = relay("run", "logs", "2")
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 2
    assert "relay run logs 2 --follow" in ended.err


def test_logs_follow_to_the_end(relay: Relay, service: StandIn) -> None:
    service.finish_after_streams = 2
    ended = relay("run", "logs", "2", "--follow")
    assert (ended.code, len(ended.out.splitlines()), ended.err) == (0, 2, "")


@pytest.mark.parametrize("command", ["logs", "failures"])
def test_an_unknown_run(relay: Relay, service: StandIn, command: str) -> None:
    assert relay("run", command, "44", "--json").error["code"] == "not_found"


def test_view_with_its_log(relay: Relay, service: StandIn) -> None:
    """After the report, or inside the object."""
    ended = relay("run", "view", "1", "--log")
    assert ended.out.index("AssertionError") < ended.out.index("event 1") < ended.out.index("event 2")
    told = relay("run", "view", "1", "--log", "--json").json
    assert isinstance(told, dict)
    assert [event["id"] for event in told["log"]] == [1, 2]
    assert "log" not in str(relay("run", "view", "1", "--json", "--fields", "run.id").json)


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
