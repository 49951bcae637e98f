"""A worker and a relay over real sockets, between which answers are lost after the relay has made up its mind."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from relay.context import RelayContext
from relay.contract import LeaseRequest
from relay.views import RunState
from tests.conftest import WORKER_TOKEN
from tests.relay.serving import serving
from tests.relay.worker_story import arrive, get_run, names, new_run, report
from workers.relay_client import RelayClient, RelayUnavailableError, RetryPolicy

QUICK = RetryPolicy(attempts=4, timeout_s=60, first_wait_s=0.001)
IDENTITY = LeaseRequest(worker="w1", device="spyre")


class Forgetful(httpx.HTTPTransport):
    """Loses so many answers, whole, and lets the next ones through."""

    def __init__(self) -> None:
        super().__init__()
        self.to_lose = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if not self.to_lose:
            return response
        self.to_lose -= 1
        response.read()
        response.close()
        raise httpx.ReadTimeout("the answer is lost", request=request)


def test_lost_answers_leave_no_shard_that_nobody_works_on(app: FastAPI, context: RelayContext) -> None:
    """Each question loses three answers: the worker hears of each of the three runs once, at attempt 1."""
    runs = {arrive(context.store, new_run(pr_number=number)) for number in range(1, 4)}
    lossy = Forgetful()
    with serving(app) as url, RelayClient(url, WORKER_TOKEN, transport=lossy, retry=QUICK) as client:
        taken = []
        for _ in runs:
            lossy.to_lose = QUICK.attempts - 1
            lease = client.lease(IDENTITY)
            assert lease is not None
            taken.append(lease)
        for lease in taken:
            client.post_selection(lease, report([names(1)]))
    assert sorted((lease.run_id, lease.attempt) for lease in taken) == [(run_id, 1) for run_id in sorted(runs)]
    assert {get_run(context.store, run_id).state for run_id in runs} == {RunState.PLANNED}


def test_a_worker_that_gives_up_asks_another_question_later(app: FastAPI, context: RelayContext) -> None:
    """The lease that it never heard of ends by itself, as that of a killed worker."""
    arrive(context.store)
    lossy = Forgetful()
    with serving(app) as url, RelayClient(url, WORKER_TOKEN, transport=lossy, retry=QUICK) as client:
        lossy.to_lose = QUICK.attempts
        with pytest.raises(RelayUnavailableError, match="the answer is lost"):
            client.lease(IDENTITY)
        assert client.lease(IDENTITY) is None
