"""`relay status`: the service, what is under way, what waits for a person."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from relay.views import RunState
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_run, closed_port


def test_what_there_is_in_the_order_of_importance(relay: Relay, service: StandIn) -> None:
    """The service, then runs, then what could not be sent."""
    service.letters = {"dead": 2, "sent": 9}
    service.runs[4] = a_run(4, RunState.RECEIVED)
    ended = relay("status")
    lines = ended.out.splitlines()
    assert lines[0] == f"ok  {service.url}, version 9.9.9, device spyre"
    assert lines[1] == "2 runs are under way"
    assert [line.split("\t")[:2] for line in lines[2:4]] == [["2", "running"], ["4", "received"]]
    assert lines[4:] == [
        "newest that ended: run 3  success  3 tests, all as expected",
        "2 deliveries could not be sent",
    ]
    assert ended.err == "next: relay delivery list --state dead\n"


def test_nothing_under_way_and_a_bad_manifest(relay: Relay, service: StandIn) -> None:
    """A service without runs is no error, and old manifests are not overlooked."""
    service.runs.clear()
    service.manifest_problem = "ops.yaml:1: no\x1b[2J"
    lines = relay("status").out.splitlines()
    assert lines[1:] == ["manifests: the last good ones are in use: ops.yaml:1: no\N{REPLACEMENT CHARACTER}[2J",
                         "no run is under way"]  # fmt: skip  # one line each


def test_for_programs(relay: Relay, service: StandIn) -> None:
    told = relay("status", "--json", "--fields", "health.status,under_way.id,newest_ended.id,dead_deliveries").json
    assert told == {
        "health": {"status": "ok"},
        "under_way": [{"id": 2}],
        "newest_ended": {"id": 3},
        "dead_deliveries": 0,
    }


def test_one_repository_by_option_or_environment(
    relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every question about runs names it."""
    relay("status", "--repo", "acme/torch")
    assert service.asked
    assert all("repo=acme%2Ftorch" in asked for asked in service.asked)
    service.asked.clear()
    monkeypatch.setenv("RELAY_REPO", "acme/other")
    relay("status")
    assert all("repo=acme%2Fother" in asked for asked in service.asked)


def test_watching_writes_a_line_for_each_change_until_ctrl_c(service: StandIn) -> None:
    """Nothing is said twice, and the end is 130 without a traceback."""
    command = [sys.executable, "-m", "relay", "status", "--watch", "--interval", "0.1", "--json"]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})
    with watching:
        assert watching.stdout is not None
        before = json.loads(watching.stdout.readline())
        service.runs[4] = a_run(4, RunState.RUNNING)
        after = json.loads(watching.stdout.readline())
        watching.send_signal(signal.SIGINT)
        out, err = watching.communicate(timeout=30)
    assert ([run["id"] for run in before["under_way"]], [run["id"] for run in after["under_way"]]) == ([2], [4, 2])
    assert (watching.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_a_service_that_is_away(relay: Relay) -> None:
    with closed_port() as url:
        assert relay("status", "--url", url, "--json").error["code"] == "unreachable"
