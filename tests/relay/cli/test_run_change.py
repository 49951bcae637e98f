"""`relay run rerun` by test and by pull request, and the filters and ends that lists and watches know."""

from __future__ import annotations

import pytest

from relay.views import RunState, Verdict
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_run


def test_named_tests_again(relay: Relay, service: StandIn) -> None:
    """As often as --test is said; an older service is told nothing that it does not know."""
    ended = relay("run", "rerun", "1", "--test", "a.py::T::x", "--test", "b.py::T::y")
    assert "run 99 repeats run 1" in ended.out
    relay("run", "rerun", "1")
    assert service.reruns == [{"failed": False, "tests": ["a.py::T::x", "b.py::T::y"]}, {"failed": False}]


def test_the_newest_run_of_a_pull_request_again(relay: Relay, service: StandIn) -> None:
    """Of several the newest; which one it is, is said."""
    service.runs[7] = service.runs[1].model_copy(update={"id": 7})
    ended = relay("run", "rerun", "--pr", "101", "--failed")
    assert "run 99 repeats run 7" in ended.out
    assert service.reruns == [{"failed": True}]


def test_a_pull_request_without_a_run(relay: Relay, service: StandIn) -> None:
    ended = relay("run", "rerun", "--pr", "5", "--json")
    assert (ended.code, ended.error["code"]) == (1, "not_found")
    assert "no run of pull request #5" in ended.error["message"]


@pytest.mark.parametrize("line", ["", "1 --pr 101", "1 --failed --test a.py::T::x", "1 --full --test a.py::T::x"])
def test_what_to_run_again_has_to_be_clear(relay: Relay, service: StandIn, line: str) -> None:
    """A run or a pull request; all, the failed or named tests. Else nothing is sent."""
    assert relay("run", "rerun", *line.split()).code == 2
    assert service.tokens == []


def test_a_list_is_found_by_the_words_it_shows(relay: Relay, service: StandIn) -> None:
    """The column of states holds states and ends, and --state takes both."""
    assert relay("run", "list", "--state", "failure").out.startswith("1\tfailure")
    assert relay("run", "list", "--status", "running").out.startswith("2\trunning")
    relay("run", "list", "--branch", "release/2.13", "--repo", "acme/torch")
    assert "branch=release%2F2.13" in service.asked[-1]
    assert "repo=acme%2Ftorch" in service.asked[-1]
    relay("run", "list", "--device", "quartz")
    assert "device=quartz" in service.asked[-1]
    near = relay("run", "list", "--state", "sucess")
    assert (near.code, "Did you mean 'success'?" in near.err) == (2, True)


def test_watch_ends_at_the_first_failure(relay: Relay, service: StandIn) -> None:
    """With 5, the failure, and the word that the run goes on."""
    service.runs[2] = a_run(2, RunState.RUNNING).model_copy(update={"verdicts": {Verdict.CRASH: 1}})
    ended = relay("run", "watch", "2", "--fail-fast")
    assert ended.code == 5
    assert "AssertionError" in ended.out
    assert "event 2" not in ended.out
    assert "run 2 has failures already and goes on" in ended.err


def test_watch_goes_on_while_nothing_fails(relay: Relay, service: StandIn) -> None:
    service.finish_after_streams = 2
    assert relay("run", "watch", "2", "--fail-fast", "--interval", "0.1").code == 0


def test_a_compact_watch_is_the_address_and_the_end(relay: Relay, service: StandIn) -> None:
    lines = relay("run", "watch", "3", "--compact").out.splitlines()
    assert lines[0] == "run 3: http://relay.invalid/runs/3"
    assert not [line for line in lines if "event" in line]
    assert lines[-1].startswith("success")
    assert len(relay("run", "watch", "3", "--compact", "--json").out.splitlines()) == 2
