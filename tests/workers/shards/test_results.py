"""Results leave in small numbered batches, soon, and none twice."""

from __future__ import annotations

from collections import deque

import pytest

from relay.contract import Attempt, Observation, TestResult, Tree
from tests.waiting import until
from tests.workers.leases import a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble
from workers.relay_client import LeaseLostError, RelayClient, RelayUnavailableError, RetryPolicy
from workers.shards.results import BATCH_SIZE, ResultPoster

QUICK = RetryPolicy(attempts=2, timeout_s=10, first_wait_s=0.001)


def result(number: int) -> TestResult:
    attempt = Attempt(tree=Tree.HEAD, number=1, observation=Observation.PASSED, duration_s=0.0)
    return TestResult(id=f"test/test_a.py::TestASPYRE::test_{number}", attempts=(attempt,))


def test_everything_is_posted_once_in_order(relay: RelayDouble) -> None:
    results = [result(number) for number in range(2 * BATCH_SIZE + 3)]
    with RelayClient(relay.url, TOKEN) as client, ResultPoster(client, a_test_lease()) as poster:
        for item in results:
            poster.add(item)
    assert relay.results == results
    assert [batch.sequence for batch in relay.posted] == list(range(1, len(relay.posted) + 1))
    assert max(len(batch.results) for batch in relay.posted) <= BATCH_SIZE


def test_a_lone_result_does_not_wait_for_company(relay: RelayDouble) -> None:
    with RelayClient(relay.url, TOKEN) as client, ResultPoster(client, a_test_lease()) as poster:
        poster.add(result(1))
        until(lambda: relay.results == [result(1)])


def test_nothing_to_say_is_not_said(relay: RelayDouble) -> None:
    with RelayClient(relay.url, TOKEN) as client, ResultPoster(client, a_test_lease()):
        pass
    assert relay.posted == []


def test_a_lost_lease_reaches_the_shard(relay: RelayDouble) -> None:
    relay.lost.add("test-1")

    def shard(client: RelayClient) -> None:
        with ResultPoster(client, a_test_lease()) as poster:
            poster.add(result(1))
            until(lambda: poster.failed)
            poster.add(result(2))

    with RelayClient(relay.url, TOKEN) as client, pytest.raises(LeaseLostError):
        shard(client)


def test_a_post_that_fails_for_good_is_not_forgotten_at_the_end(relay: RelayDouble) -> None:
    relay.failures["results"] = deque([503, 503])
    with (
        RelayClient(relay.url, TOKEN, retry=QUICK) as client,
        pytest.raises(RelayUnavailableError),
        ResultPoster(client, a_test_lease()) as poster,
    ):
        poster.add(result(1))


def test_results_before_a_failure_of_the_shard_are_still_posted(relay: RelayDouble) -> None:
    class ShardBrokeError(Exception):
        pass

    def broken_shard(client: RelayClient) -> None:
        with ResultPoster(client, a_test_lease()) as poster:
            poster.add(result(1))
            raise ShardBrokeError

    with RelayClient(relay.url, TOKEN) as client, pytest.raises(ShardBrokeError):
        broken_shard(client)
    assert relay.results == [result(1)]
