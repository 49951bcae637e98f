"""`relay edge`: what selections missed, listed and forgotten."""

from __future__ import annotations

import pytest

from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn
from tests.relay.stand_in_edges import an_edge


def test_they_are_listed_newest_first(relay: Relay, service: StandIn) -> None:
    service.edges += [an_edge(17), an_edge(18, run_id=2)]
    ended = relay("edge", "list")
    assert ended.out.splitlines() == [
        "18\ttorch/functional.py\ttest/test_ops.py::TestOps::test_relu_18\trun 2\t2024-05-04T10:00:00+00:00",
        "17\ttorch/functional.py\ttest/test_ops.py::TestOps::test_relu_17\trun 1\t2024-05-04T10:00:00+00:00",
    ]
    assert "2 times a test runs with a changed file" in ended.err
    assert relay("edge", "list", "relu_17", "--json", "--fields", "id").json == [{"id": 17}]
    assert relay("edge", "list", "--run", "2", "--json", "--fields", "id").json == [{"id": 18}]
    assert "; 1 shown" in relay("edge", "list", "--limit", "1").err


def test_nothing_was_missed(relay: Relay, service: StandIn) -> None:
    ended = relay("edge", "list")
    assert (ended.code, ended.out) == (0, "")
    assert "no selection missed such a test" in ended.err


def test_they_are_forgotten_by_number(relay: Relay, service: StandIn) -> None:
    """What is not there is said, and is an error where it is all that was asked for."""
    service.edges += [an_edge(17), an_edge(18)]
    ended = relay("edge", "remove", "17", "99")
    assert (ended.code, [it.id for it in service.edges]) == (0, [18])
    assert "1 edge is forgotten" in ended.err
    assert "no edge has the number 99" in ended.err
    ended = relay("edge", "remove", "17", "--json")
    assert (ended.code, ended.error["code"], [it.id for it in service.edges]) == (1, "not_found", [18])
    told = relay("edge", "remove", "18", "--json").json
    assert isinstance(told, dict)
    assert ([it["id"] for it in told["removed"]], told["unknown"]) == ([18], [])


def test_all_of_a_run_are_forgotten_however_many(relay: Relay, service: StandIn) -> None:
    """In parts of a size that the service takes."""
    service.edges += [an_edge(number, run_id=1 + number % 2) for number in range(1, 1_203)]
    ended = relay("edge", "remove", "--run", "1")
    assert (ended.code, {it.run_id for it in service.edges}, len(service.edges)) == (0, {2}, 601)
    assert "601 edges are forgotten" in ended.err
    assert "nothing to forget" in relay("edge", "remove", "--run", "1").err


@pytest.mark.parametrize("line", ["", "1 --run 1", "0", "--run x"])
def test_what_makes_no_sense(relay: Relay, service: StandIn, line: str) -> None:
    assert relay("edge", "remove", *line.split()).code == 2
