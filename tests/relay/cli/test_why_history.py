"""`relay why --history`: how a test did before, by itself and beside its decision."""

from __future__ import annotations

import pytest

from relay.contract import Decision, ReasonMessage
from relay.views import Verdict
from tests.relay.cli.conftest import Relay
from tests.relay.cli.test_why import change, repository
from tests.relay.stand_in import StandIn, a_history

__all__ = ["change", "repository"]
BASE = "test/test_ops.py::TestOps::test_relu"
VARIANT = "test/test_ops.py::TestOpsSPYRE::test_relu_spyre"


@pytest.fixture
def record(service: StandIn) -> StandIn:
    """Seven variants of one base test, one of them in trouble; and one of a test whose name begins alike."""
    edited = ReasonMessage(stage=2, rule="edited test", evidence="", score=1.0)
    service.decisions = [Decision(test=BASE, kept=True, must_run=True, reasons=(edited,))]
    service.histories = [a_history(f"{VARIANT}_int{size}", Verdict.OK, Verdict.OK) for size in range(6)]
    service.histories.append(a_history(f"{VARIANT}_float32", Verdict.REGRESSION, Verdict.OK))
    service.histories.append(a_history("test/test_ops.py::TestOpsSPYRE::test_reluctant_spyre_int8", Verdict.OK))
    return service


def test_one_variant_by_itself(relay: Relay, record: StandIn) -> None:
    """No change is needed for it."""
    ended = relay("why", f"{VARIANT}_float32", "--history", "5")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "",
        f"{VARIANT}_float32",
        "  fine on the branch, in 1 of the 2 runs here that tell",
        "  both fine and failing on 1 of 3 commits (5 attempts in 4 runs)",
        "2\tregression\tmandatory_success\t#102\tChange relu\t0.2 s\t2024-05-04T10:00:00+00:00",
        "1\tok\tmandatory_success\tbbbbbbbbbb\tChange relu\t0.2 s\t2024-05-04T10:00:00+00:00",
    ]


def test_a_base_test_is_all_its_variants(relay: Relay, record: StandIn) -> None:
    """Those in trouble first, and no other test's."""
    ended = relay("why", BASE, "--history", "1", "--json")
    assert isinstance(ended.json, dict)
    shown = [it["test"] for it in ended.json["history"]]
    assert shown == [f"{VARIANT}_float32", *(f"{VARIANT}_int{size}" for size in range(4))]
    told = relay("why", BASE, "--history", "1")
    assert "5 of 7 tests of that name, those with trouble first" in told.err
    assert "there are older runs" in told.err


def test_a_part_of_a_name_will_do(relay: Relay, record: StandIn) -> None:
    assert "test_reluctant_spyre_int8" in relay("why", "RELUCTANT", "--history", "3").out


def test_a_failure_of_the_branch_has_its_age(relay: Relay, record: StandIn) -> None:
    record.histories = [a_history(f"{VARIANT}_int8", Verdict.KNOWN_FAILURE, Verdict.KNOWN_FAILURE, failing=True)]
    told = relay("why", f"{VARIANT}_int8", "--history", "3").out
    assert "fails on the branch since run 1: 2 runs tell so, none saw it fine before" in told


def test_beside_the_decision_of_a_run(relay: Relay, record: StandIn) -> None:
    """Of the variant that was named, else of those of the base test."""
    told = relay("why", f"{VARIANT}_int3", "--change", "1", "--history", "2").out
    assert told.startswith(f'{BASE}\nmust run by "edited test"')
    assert f"\n{VARIANT}_int3\n" in told
    assert f"{VARIANT}_int2" not in told
    both = relay("why", "test_relu", "--change", "1", "--history", "2", "--json").json
    assert isinstance(both, dict)
    assert (len(both["considered"]), len(both["history"])) == (1, 5)


def test_without_it_nothing_is_asked(relay: Relay, record: StandIn) -> None:
    told = relay("why", "test_relu", "--change", "1", "--json").json
    assert isinstance(told, dict)
    assert "history" not in told


def test_beside_a_local_change(relay: Relay, record: StandIn, change: tuple[str, ...]) -> None:
    """The selection is made here, the history is the service's."""
    roll = "test/test_functional.py::TestRollSPYRE::test_roll_up_spyre_float32"
    record.histories = [a_history(roll, Verdict.OK)]
    told = relay("why", "test_roll_up", *change, "--history", "2")
    assert told.out.startswith('test/test_functional.py::TestRoll::test_roll_up\nmust run by "mention"')
    assert f"\n{roll}\n" in told.out
    several = relay("why", "test_", *change, "--history", "2")
    assert "no history: the name means 3 tests; name one alone" in several.err


def test_what_never_ran(relay: Relay, record: StandIn) -> None:
    """By itself an error, beside a decision a note."""
    ended = relay("why", "test_absent", "--history", "3", "--json")
    assert (ended.code, ended.error["code"]) == (1, "not_found")
    record.histories = []
    ended = relay("why", BASE, "--change", "1", "--history", "3")
    assert ended.code == 0
    assert f"no run that was looked at planned a test that is called '{BASE}'" in ended.err


@pytest.mark.parametrize("line", ["", "--change 1 --base HEAD", "--history 0", "--history 201"])
def test_what_makes_no_sense(relay: Relay, record: StandIn, line: str) -> None:
    assert relay("why", "test_relu", *line.split()).code == 2
