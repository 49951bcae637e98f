"""The worker API over real HTTP: what is retried, what is refused, and how it is said."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import httpx
import pytest

from relay.contract import Attempt, LeaseRequest, Observation, ShardOutcome, TestResult, Tree
from tests.workers.leases import a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble
from workers.relay_client import (
    LeaseLostError,
    RelayClient,
    RelayRefusedError,
    RelayUnavailableError,
    RetryPolicy,
)

QUICK = RetryPolicy(attempts=3, timeout_s=10, first_wait_s=0.001)
REQUEST = LeaseRequest(worker="w", device="spyre")
RESULT = TestResult(
    id="test/test_a.py::TestASPYRE::test_x",
    attempts=(Attempt(tree=Tree.HEAD, number=1, observation=Observation.PASSED, duration_s=0.1),),
)


@pytest.fixture
def client(relay: RelayDouble) -> Iterator[RelayClient]:
    with RelayClient(relay.url, TOKEN, retry=QUICK) as client:
        yield client


def test_a_lease_is_read_and_nothing_due_is_none(relay: RelayDouble, client: RelayClient) -> None:
    lease = a_test_lease()
    relay.leases.append(lease)
    assert client.lease(REQUEST) == lease
    assert client.lease(REQUEST) is None


def test_the_tries_of_a_question_have_one_name_and_the_next_question_has_another(
    relay: RelayDouble, client: RelayClient
) -> None:
    relay.failures["lease"] = deque([503, 500])
    relay.leases.append(a_test_lease())
    assert client.lease(REQUEST) == a_test_lease()
    assert client.lease(REQUEST) is None
    named = [wanted.request for wanted in relay.wanted]
    assert named[:3] == [named[0]] * 3
    assert named[3] != named[0]
    assert [LeaseRequest.model_validate(wanted.model_dump()) for wanted in relay.wanted] == relay.wanted
    assert {(wanted.worker, wanted.device, len(wanted.request)) for wanted in relay.wanted} == {("w", "spyre", 32)}


@pytest.mark.parametrize("status", [503, 500, 429])
def test_results_are_retried_with_the_same_sequence(relay: RelayDouble, client: RelayClient, status: int) -> None:
    relay.failures["results"] = deque([status, status])
    client.post_results(a_test_lease(), 4, (RESULT,))
    assert relay.attempts == [("results", 4)] * 3
    assert [(batch.sequence, batch.results) for batch in relay.posted] == [(4, (RESULT,))]


def test_retries_end(relay: RelayDouble, client: RelayClient) -> None:
    relay.failures["finish"] = deque([503] * 3)
    with pytest.raises(RelayUnavailableError, match=r"could not be reached: HTTP 503"):
        client.finish(a_test_lease(), ShardOutcome.DONE)
    assert relay.finished == []


def test_a_relay_that_is_down_is_unavailable() -> None:
    with (
        RelayClient("http://127.0.0.1:9", TOKEN, retry=QUICK) as client,
        pytest.raises(RelayUnavailableError, match="ConnectError"),
    ):
        client.lease(REQUEST)


def test_a_lost_lease_is_not_retried(relay: RelayDouble, client: RelayClient) -> None:
    relay.lost.add("test-1")
    with pytest.raises(LeaseLostError):
        client.post_results(a_test_lease(), 1, (RESULT,))
    assert len(relay.attempts) == 1


def test_a_wrong_token_is_said_without_the_token(relay: RelayDouble) -> None:
    with (
        RelayClient(relay.url, "wrong-token", retry=QUICK) as client,
        pytest.raises(RelayRefusedError, match="Set RELAY_WORKER_TOKEN") as caught,
    ):
        client.lease(REQUEST)
    assert "wrong-token" not in str(caught.value)


def test_another_answer_is_a_matter_of_versions() -> None:
    """The seam: a transport of the test's own."""
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json={"unexpected": True}))
    with (
        RelayClient("http://relay", TOKEN, transport=transport, retry=QUICK) as client,
        pytest.raises(RelayRefusedError, match=r"not a Lease .*same version"),
    ):
        client.lease(REQUEST)
