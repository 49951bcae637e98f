"""How tests ended and how long they took, asked of the relay, and what becomes of it when nobody answers."""

from __future__ import annotations

import httpx
import pytest

from relay.contract import PAST_FILES_CAP, PAST_PATHS_CAP, Change, Past, PastAsked
from workers.relay_client import RelayClient, RetryPolicy
from workers.shards.past import RecordedOutcomes, RecordedSeconds

CHANGE = Change(repo="pytorch/pytorch", clone_url="https://invalid/", base_sha="b" * 40, head_sha="a" * 40, pr_number=7)


class Record:
    """A relay with one answer, which notes the questions."""

    def __init__(self, answer: Past) -> None:
        self.asked: list[PastAsked] = []
        self._answer = answer

    def past(self, asked: PastAsked) -> Past:
        self.asked.append(asked)
        return self._answer


def test_outcomes_are_one_question_about_the_change_asked_when_it_is_first_needed() -> None:
    edge = {"path": "torch/a.py", "test": "test/a.py::T::x"}
    record = Record(
        Past.model_validate(
            {
                "failed_last": [{"test": "test/a.py::T::y", "evidence": "in run 7"}],
                "failed_with": [{**edge, "strength": 0.5}],
                "missed_with": [{**edge, "evidence": "in run 3"}],
            }
        )
    )
    known = RecordedOutcomes(record, "spyre", CHANGE)
    assert record.asked == []
    paths = ["torch/b.py", "torch/a.py"]
    assert known.failed_with(paths) == {"torch/a.py": {"test/a.py::T::x": 0.5}}
    assert known.missed_with(paths[::-1]) == {"torch/a.py": {"test/a.py::T::x": "in run 3"}}
    assert known.failed_last() == {"test/a.py::T::y": "in run 7"}
    assert record.asked == [
        PastAsked(
            device="spyre",
            paths=("torch/a.py", "torch/b.py"),
            repo="pytorch/pytorch",
            pr_number=7,
            head_sha="a" * 40,
        )
    ]


def test_the_question_about_paths_keeps_to_the_contract() -> None:
    record = Record(Past())
    paths = ["x" * 1_001, "torch/\udcff.py", *(f"torch/{number}.py" for number in range(PAST_PATHS_CAP + 1))]
    assert RecordedOutcomes(record, "spyre", CHANGE).missed_with(paths) == {}
    assert [len(question.paths) for question in record.asked] == [PAST_PATHS_CAP]


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
        outcomes = RecordedOutcomes(client, "spyre", CHANGE)
        assert (outcomes.failed_with(["torch/a.py"]), outcomes.failed_last()) == ({}, {})
