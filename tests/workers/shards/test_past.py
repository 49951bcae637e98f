"""How long tests took, asked of the relay, and what becomes of it when nobody answers."""

from __future__ import annotations

import httpx
import pytest

from relay.contract import PAST_FILES_CAP, PastAsked
from workers.relay_client import RelayClient, RetryPolicy
from workers.shards.past import RecordedSeconds


def test_seconds_come_by_file_and_the_question_keeps_to_the_contract() -> None:
    asked: list[PastAsked] = []

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/api/v1/worker/past"
        asked.append(PastAsked.model_validate_json(request.content))
        rows = [{"file": "test/a.py", "test": f"test/a.py::T::{name}", "seconds": 2.5} for name in ("x", "y")]
        return httpx.Response(200, json={"durations": rows})

    with RelayClient("http://relay.invalid", "t", transport=httpx.MockTransport(answer)) as client:
        known = RecordedSeconds(client, "spyre")
        assert known.seconds([]) == {}
        files = ["x" * 1_001, "test/a.py", *(f"test/{number}.py" for number in range(PAST_FILES_CAP))]
        assert known.seconds(files) == {"test/a.py": {"test/a.py::T::x": 2.5, "test/a.py::T::y": 2.5}}
    assert [len(question.files) for question in asked] == [PAST_FILES_CAP]


@pytest.mark.parametrize(
    "reply", [httpx.Response(404), httpx.Response(200, json={"durations": 7}), httpx.Response(503)]
)
def test_a_relay_without_an_answer_costs_the_seconds_and_nothing_else(reply: httpx.Response) -> None:
    transport = httpx.MockTransport(lambda _: reply)
    with RelayClient("http://relay.invalid", "t", transport=transport, retry=RetryPolicy(attempts=1)) as client:
        assert RecordedSeconds(client, "spyre").seconds(["test/a.py"]) == {}
