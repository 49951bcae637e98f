"""The selector's question, asked of the relay, and what becomes of it when nobody answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx
import pytest

from relay.contract import OPERATORS_CAP, ObservedOperators, OperatorsAsked, OperatorUses
from workers.relay_client import RelayClient, RelayUnavailableError, RetryPolicy
from workers.shards.observed_operators import RecordedTests


@dataclass
class Record:
    answer: ObservedOperators = field(
        default=ObservedOperators(
            operators=(
                OperatorUses(operator="aten::gelu", tests=("a", "b"), total=2),
                OperatorUses(operator="aten::add", tests=(), total=9_000),
            )
        )
    )
    asked: list[OperatorsAsked] = field(default_factory=list)
    down: bool = False

    def observed_operators(self, asked: OperatorsAsked) -> ObservedOperators:
        if self.down:
            raise RelayUnavailableError("down")
        self.asked.append(asked)
        return self.answer


def test_tests_come_by_operator_and_operators_without_tests_are_left_out() -> None:
    record = Record()
    assert RecordedTests(record, "spyre").tests_using(["aten::gelu", "aten::add"]) == {"aten::gelu": ("a", "b")}
    assert record.asked == [OperatorsAsked(device="spyre", operators=("aten::gelu", "aten::add"))]


def test_a_relay_that_does_not_answer_costs_the_knowledge_and_nothing_else() -> None:
    assert RecordedTests(Record(down=True), "spyre").tests_using(["aten::gelu"]) == {}


def test_the_question_keeps_to_the_contract() -> None:
    record = Record()
    RecordedTests(record, "spyre").tests_using(["", "x" * 201, *(f"aten::op{number}" for number in range(900))])
    assert len(record.asked[0].operators) == OPERATORS_CAP
    assert RecordedTests(record, "spyre").tests_using([]) == {}
    assert len(record.asked) == 1


@pytest.mark.parametrize(
    "reply", [httpx.Response(404), httpx.Response(200, json={"operators": 7}), httpx.Response(503)]
)
def test_an_odd_answer_over_http_is_no_answer(reply: httpx.Response) -> None:
    """An older relay has no such address."""
    transport = httpx.MockTransport(lambda _: reply)
    retry = RetryPolicy(attempts=1)
    with RelayClient("http://relay.invalid", "t", transport=transport, retry=retry) as client:
        assert RecordedTests(client, "spyre").tests_using(["aten::gelu"]) == {}


def test_the_question_goes_to_the_workers_address_and_comes_back_typed() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/api/v1/worker/operators"
        asked = OperatorsAsked.model_validate_json(request.content)
        uses = [{"operator": name, "tests": ["t"], "total": 1} for name in asked.operators]
        return httpx.Response(200, json={"operators": uses})

    with RelayClient("http://relay.invalid", "t", transport=httpx.MockTransport(answer)) as client:
        assert RecordedTests(client, "spyre").tests_using(["aten::gelu"]) == {"aten::gelu": ("t",)}
