"""`relay run watch`: address first, events, then the verdict; one JSON object a line for programs."""

from __future__ import annotations

import json

from relay.views import RunState
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_run


def test_watch_begins_with_the_address_and_ends_with_the_verdict(relay: Relay, service: StandIn) -> None:
    """The order a reader needs; on failure the next command is filled in."""
    ended = relay("run", "watch", "1")
    lines = ended.out.splitlines()
    assert lines[0] == "run 1: http://relay.invalid/runs/1"
    assert [line.split("  ")[1] for line in lines[1:3]] == ["event 1", "event 2"]
    assert lines[-1] == "failure  1 regression in 3 tests"
    assert "AssertionError" in ended.out
    assert ended.err == "next: relay run rerun 1 --failed\n"


def test_watch_follows_to_the_end(relay: Relay, service: StandIn) -> None:
    """A run that ends while it is watched is shown as it ended."""
    service.finish_after_streams = 2
    ended = relay("run", "watch", "2", "--exit-status")
    assert ended.code == 0
    assert ended.out.splitlines()[-1].startswith("success")


def test_watch_as_ndjson(relay: Relay, service: StandIn) -> None:
    """Run, events, run: each line an object of one key."""
    ended = relay("run", "watch", "1", "--json")
    objects = [json.loads(line) for line in ended.out.splitlines()]
    assert [list(value) for value in objects] == [["run"], ["event"], ["event"], ["run"]]
    assert objects[-1]["run"]["conclusion"] == "failure"
    assert ended.err == ""


def test_pending_run_as_ndjson_stays_pure(relay: Relay, service: StandIn) -> None:
    """The sentence about the timeout goes to stderr."""
    ended = relay("run", "watch", "2", "--json", "--timeout", "0.1")
    assert ended.code == 8
    assert all(json.loads(line) for line in ended.out.splitlines())
    assert "not finished after 0.1 s" in ended.err


def test_watch_without_a_number_takes_the_newest(relay: Relay, service: StandIn) -> None:
    """The newest run is meant."""
    assert relay("run", "watch").out.startswith("run 3: ")


def test_watch_without_any_run(relay: Relay, service: StandIn) -> None:
    """An empty service is said to be empty."""
    service.runs.clear()
    ended = relay("run", "watch", "--json")
    assert ended.error["message"] == "there is no run yet"


def test_cancelled_run_is_red(relay: Relay, service: StandIn) -> None:
    """With --exit-status only a good end is 0."""
    service.runs[4] = a_run(4, RunState.CANCELLED)
    assert relay("run", "watch", "4", "--exit-status").code == 5
    assert relay("run", "watch", "4").code == 0
