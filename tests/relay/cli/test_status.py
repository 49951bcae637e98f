"""`relay status`: the service, what is under way, what waits for a person."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from relay.now_views import DeviceNow, NowView, RunNow, ShardsNow, WorkerState
from relay.queue_views import Backlog, Wait, Waiting, WorkClass
from relay.views import RunState
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_run, a_worker, closed_port


def test_what_there_is_in_the_order_of_importance(relay: Relay, service: StandIn) -> None:
    """The service, then runs, then what could not be sent."""
    service.letters = {"dead": 2, "sent": 9}
    service.runs[4] = a_run(4, RunState.RECEIVED)
    ended = relay("status")
    lines = ended.out.splitlines()
    assert lines[0] == f"ok  {service.url}, version 9.9.9, device spyre"
    assert lines[1] == "1 worker: 1 idle"
    assert lines[2] == "2 runs are under way"
    assert [line.split("\t")[:2] for line in lines[3:5]] == [["2", "running"], ["4", "received"]]
    assert lines[5:] == [
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
                         "1 worker: 1 idle", "no run is under way"]  # fmt: skip  # one line each


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


def test_workers_are_counted_and_what_differs_is_told(relay: Relay, service: StandIn) -> None:
    """Who said goodbye is not counted, and a heartbeat is no change worth a line of --watch."""
    service.workers = [
        *(
            a_worker("w1", WorkerState.WORKING),
            a_worker("w2", torch="2.12.1"),
            a_worker("w3\x1b[2J", WorkerState.SILENT),
        ),
        a_worker("w4", WorkerState.LEFT),
    ]
    ended = relay("status")
    assert ended.out.splitlines()[1] == "3 workers: 1 at work, 1 idle, 1 silent"
    assert ended.err.splitlines()[0] == "workers of spyre are not alike in torch: 2.12.1 (w2), 2.13.0 (w1)"
    told = relay("status", "--json", "--fields", "workers,worker_differences.trait").json
    assert isinstance(told, dict)
    assert told["workers"][0] == {"name": "w1", "device": "spyre", "state": "working", "run_id": 3}
    assert told["worker_differences"] == [{"trait": "torch"}]


def test_a_worker_that_can_do_nothing_says_why(relay: Relay, service: StandIn) -> None:
    service.workers = [a_worker("w1"), a_worker("w2", WorkerState.UNABLE, trouble="No room.\x1b[2J")]
    ended = relay("status")
    assert ended.out.splitlines()[1] == "2 workers: 1 idle, 1 cannot work"
    assert ended.err.splitlines()[0] == "w2 cannot work: No room.\N{REPLACEMENT CHARACTER}[2J"
    told = relay("status", "--json", "--fields", "workers_unable").json
    assert told == {"workers_unable": ["w2 cannot work: No room.\N{REPLACEMENT CHARACTER}[2J"]}


def test_a_service_without_workers_and_one_too_old_to_tell(relay: Relay, service: StandIn) -> None:
    service.workers = []
    assert relay("status").out.splitlines()[1] == "no worker is connected"
    service.workers = None
    assert relay("status").out.splitlines()[1] == "1 run is under way"


def a_queue(*, deep: bool) -> NowView:
    waiting = Waiting(
        work_class=WorkClass.PULL_REQUEST, wait=Wait.GROUP_LIMIT, shards_before=4, group_leases=2, limit=2
    )
    state = RunNow(
        run=a_run(4, RunState.PLANNED, title="Change\x1b[2J"),
        elapsed_s=1.0,
        expected=None,
        shards=ShardsNow(),
        workers=(),
        place=1,
        waiting=waiting,
    )
    idle = DeviceNow(device="cpu", running=(), queued=(), queued_total=0, workers=())
    busy = DeviceNow(
        device="spyre", running=(), queued=(state,), queued_total=9, workers=(), backlog=Backlog(deep=deep)
    )
    return NowView(devices=(idle, busy), last_event=1)


def test_who_waits_is_told_with_the_reason_and_back_pressure(relay: Relay, service: StandIn) -> None:
    """Of devices with a queue; for programs by its code."""
    service.now = a_queue(deep=True)
    ended = relay("status")
    assert ended.out.splitlines()[4:6] == [
        "9 wait for spyre, the next first",
        "1\t4\tChange\N{REPLACEMENT CHARACTER}[2J\tit has its part of the workers (2 of 2) while others wait",
    ]
    assert ended.err.startswith("the queue of spyre is deep: audits are held")
    told = relay("status", "--json", "--fields", "queues.device,queues.deep,queues.runs.id,queues.runs.wait").json
    assert told == {
        "queues": [
            {"device": "cpu", "deep": False, "runs": []},
            {"device": "spyre", "deep": True, "runs": [{"id": 4, "wait": "group_limit"}]},
        ]
    }
    service.now = a_queue(deep=False)
    assert relay("status").err == ""
    assert "Change" not in "".join(relay("status", "--repo", "acme/other").out.splitlines()[4:6])


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
