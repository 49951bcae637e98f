"""A lease is kept as long as the shard runs, and given up when the relay says so."""

from __future__ import annotations

from collections import deque

import pytest

from tests.waiting import until
from tests.workers.leases import a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble
from workers.heartbeat import LeaseKeeper, StopReason
from workers.relay_client import RelayClient

SHORT = 0.3


def never() -> bool:
    return False


def test_heartbeats_go_on_with_the_latest_progress(relay: RelayDouble) -> None:
    with (
        RelayClient(relay.url, TOKEN) as client,
        LeaseKeeper(client, a_test_lease(expires_in_s=SHORT), never) as keeper,
    ):
        keeper.say("first")
        until(lambda: [beat.progress for beat in relay.heartbeats].count("first") >= 2)
        keeper.say("second")
        until(lambda: relay.heartbeats[-1].progress == "second")
        assert not keeper.stop_requested()


def test_they_end_with_the_shard(relay: RelayDouble) -> None:
    with RelayClient(relay.url, TOKEN) as client:
        keeper = LeaseKeeper(client, a_test_lease(expires_in_s=SHORT), never)
        with keeper:
            until(lambda: bool(relay.heartbeats))
        assert not keeper._thread.is_alive()


@pytest.mark.parametrize(("answer", "reason"), [("cancelled", StopReason.CANCELLED), ("lost", StopReason.LEASE_LOST)])
def test_the_relay_can_stop_a_shard(relay: RelayDouble, answer: str, reason: StopReason) -> None:
    getattr(relay, answer).add("test-1")
    with (
        RelayClient(relay.url, TOKEN) as client,
        LeaseKeeper(client, a_test_lease(expires_in_s=SHORT), never) as keeper,
    ):
        until(keeper.stop_requested)
        assert keeper.stop_reason is reason


def test_one_failed_heartbeat_is_no_loss(relay: RelayDouble) -> None:
    relay.failures["heartbeat"] = deque([503])
    with (
        RelayClient(relay.url, TOKEN) as client,
        LeaseKeeper(client, a_test_lease(expires_in_s=SHORT), never) as keeper,
    ):
        until(lambda: len(relay.heartbeats) >= 2)
        assert not keeper.stop_requested()


def test_a_relay_unreachable_for_a_lease_period_has_given_the_shard_away() -> None:
    lease = a_test_lease(expires_in_s=0.15)
    with RelayClient("http://127.0.0.1:9", TOKEN) as client, LeaseKeeper(client, lease, never) as keeper:
        until(keeper.stop_requested)
        assert keeper.stop_reason is StopReason.LEASE_LOST


def test_a_worker_that_shuts_down_stops_its_shard(relay: RelayDouble) -> None:
    with RelayClient(relay.url, TOKEN) as client, LeaseKeeper(client, a_test_lease(), lambda: True) as keeper:
        assert keeper.stop_reason is StopReason.SHUTDOWN


def test_a_long_progress_is_cut_to_the_contract(relay: RelayDouble) -> None:
    with (
        RelayClient(relay.url, TOKEN) as client,
        LeaseKeeper(client, a_test_lease(expires_in_s=SHORT), never) as keeper,
    ):
        keeper.say("x" * 2_000)
        until(lambda: any(len(beat.progress) == 500 for beat in relay.heartbeats))
