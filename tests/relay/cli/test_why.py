"""`relay why`: of a local change, and of a run of the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.contract import Decision, FilteredTest, ReasonMessage
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn
from tests.selector.upstream import HEADER, Repository, source_of_class

FILES = {
    "torch/functional.py": "def roll_up(x):\n    return x\n\n\ndef other(x):\n    return x\n",
    "test/test_functional.py": HEADER
    + source_of_class("TestRoll", "test_roll_up: roll_up(device)", "test_apart: device"),
    "test/test_far.py": HEADER.replace("nn", "fft") + source_of_class("TestFar", "test_far: rfft(device)"),
    "README.md": "read me\n",
}
ROLL = "test/test_functional.py::TestRoll::test_roll_up"


@pytest.fixture
def change(repository: Repository) -> tuple[str, ...]:
    """The options that name a change of `roll_up`."""
    base = repository.commit({**FILES})
    changed = FILES["torch/functional.py"].replace("return x\n\n", "return -x\n\n", 1)
    head = repository.commit({"torch/functional.py": changed})
    return ("--repo", str(repository.path), "--base", base, "--head", head, "--no-manifests")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "upstream"
    folder.mkdir()
    return Repository(folder)


def test_the_decision_comes_first_and_then_what_each_stage_said(relay: Relay, change: tuple[str, ...]) -> None:
    lines = relay("why", "test_roll_up", *change).out.splitlines()
    assert lines[:3] == [ROLL, 'must run by "mention" (stage 2 ownership)', ""]
    stages = [line.partition("\t")[0] for line in lines if line.startswith("stage")]
    assert stages == ["stage 1 change", "stage 2 ownership", "stage 3 triage", "stage 4 manifests"]
    rows = dict(line.split("\t", 1) for line in lines[3:])
    assert rows["stage 3 triage"] == "not asked: stage 2 says that it must run"
    assert rows["stage 4 manifests"] == "no manifests were applied"
    assert rows["time"] == "1.0 s (assumed, none is on record)"
    assert "only a manifest" in rows["to change it"]


def test_a_variant_stands_for_its_base_test(relay: Relay, change: tuple[str, ...]) -> None:
    out = relay("why", "test/test_functional.py::TestRollSPYRE::test_roll_up_spyre_float32", *change).out
    assert out.startswith(ROLL)


def test_what_is_left_out_says_from_where_it_would_be_kept(relay: Relay, change: tuple[str, ...]) -> None:
    out = relay("why", "test_apart", *change, "--budget", "1s").out
    assert "left out by" in out
    assert "to change it\t" in out


def test_a_test_that_no_stage_considered_is_answered(relay: Relay, change: tuple[str, ...]) -> None:
    """With what of this change would have tied it."""
    ended = relay("why", "test_far", *change)
    assert ended.code == 0
    assert "not considered: no rule of stage 2 ties the change to it, nor to any other test of its file" in ended.out
    assert "a mention of something that changed: roll_up" in ended.out
    assert "torch.functional" in ended.out


def test_a_stage_that_said_nothing_of_a_test_says_why(relay: Relay, change: tuple[str, ...]) -> None:
    full = relay("why", "test_far", *change, "--full").out
    assert "stage 3 triage\tnot asked: every test is taken" in full
    by_lot = relay("why", "test_far", *change, "--holdout", "1").out
    assert by_lot.splitlines()[1] == "runs by lot"
    assert "stage 3 triage\tnot asked: nothing ties it to the change" in by_lot


def test_a_harmless_change_considers_nothing_and_says_so(relay: Relay, repository: Repository) -> None:
    base = repository.commit({**FILES})
    head = repository.commit({"README.md": "read me please\n"})
    line = ("--repo", str(repository.path), "--base", base, "--head", head, "--no-manifests")
    ended = relay("why", "test_far", *line)
    assert "not considered: no changed file can affect a test" in ended.out
    told = relay("why", "test_far", *line, "--json").json
    assert isinstance(told, dict)
    assert told["not_considered"][0]["would_change_it"] == []


def test_a_name_that_no_test_has_gets_a_guess(relay: Relay, change: tuple[str, ...]) -> None:
    ended = relay("why", "test_rol_up", *change, "--json")
    assert (ended.code, ended.error["code"]) == (1, "unknown_test")
    assert "Did you mean 'test_roll_up'?" in ended.error["message"]


def test_several_tests_get_a_line_each(relay: Relay, change: tuple[str, ...]) -> None:
    ended = relay("why", "test_", *change)
    assert f'{ROLL}\tmust run by "mention" (stage 2 ownership)' in ended.out.splitlines()
    assert "name one alone" in ended.err
    assert "1 test of that name were not considered" in ended.err


def test_json_holds_the_record_the_chain_and_the_way_out(relay: Relay, change: tuple[str, ...]) -> None:
    told = relay("why", ROLL, *change, "--json").json
    assert isinstance(told, dict)
    (record,) = told["considered"]
    assert (record["test"], record["decision"], record["plan"]) == (ROLL, "must run", told["plan_key"])
    assert record["reasons"][0]["rule"] == "mention"
    assert "only a manifest" in record["would_change_it"][0]


@pytest.mark.parametrize("line", [(), ("--change", "1", "--base", "HEAD~1")])
def test_one_change_has_to_be_named(relay: Relay, line: tuple[str, ...]) -> None:
    """A run or a local one, not both and not neither."""
    assert relay("why", "test_roll_up", *line).code == 2


def decision(name: str, *reasons: ReasonMessage, kept: bool = True, must_run: bool = False) -> Decision:
    return Decision(test=f"test/test_ops.py::TestOps::{name}", kept=kept, must_run=must_run, reasons=reasons)


def test_a_run_is_asked_for_its_decision(relay: Relay, service: StandIn) -> None:
    service.decisions = [
        decision(
            *("test_relu", ReasonMessage(stage=2, rule="mention", evidence="mentions relu\x1b[2J", score=0.6)),
            *(ReasonMessage(stage=3, rule="offline ranker", evidence="0.12, kept from 0.30", score=0.12),),
            kept=False,
        )
    ]
    service.filtered = [
        FilteredTest(
            id=f"test/test_ops.py::TestOpsSPYRE::test_relu_spyre_{dtype}",
            base="test/test_ops.py::TestOps::test_relu",
            rule="dtype_unsupported",
            provenance="ops.yaml:3",
        )
        for dtype in ("float32", "int64")
    ]
    ended = relay("why", "test_relu", "--change", "1")
    assert ended.out.splitlines()[:2] == [
        "test/test_ops.py::TestOps::test_relu",
        'left out by "offline ranker" (stage 3 triage)',
    ]
    assert "has 0.12" in ended.out
    assert "2 generated variants do not run: dtype_unsupported (ops.yaml:3)" in ended.out
    assert "\x1b" not in ended.out
    assert "http://relay.invalid/runs/1" in ended.out


def test_a_run_tells_what_it_planned_for_a_test(relay: Relay, service: StandIn) -> None:
    """One of an older relay, or of a rerun, knows nothing of that."""
    plain = decision("test_add", ReasonMessage(stage=2, rule="edited test", evidence="", score=1.0), must_run=True)
    service.decisions = [plain.model_copy(update={"seconds": 2.5, "probability": 0.25})]
    rows = dict(line.split("\t") for line in relay("why", "test_add", "--change", "1").out.splitlines()[3:])
    assert rows["time"] == "2.5 s were planned for it"
    assert rows["probability"] == "25.00% for its file to break"
    service.decisions = [plain]
    assert "time\t" not in relay("why", "test_add", "--change", "1").out


def test_of_several_decisions_the_one_with_that_very_name_counts(relay: Relay, service: StandIn) -> None:
    edited = ReasonMessage(stage=2, rule="edited test", evidence="", score=1.0)
    service.decisions = [decision(name, edited, must_run=True) for name in ("test_add", "test_add_out")]
    assert relay("why", "test_add", "--change", "1").out.count("must run by") == 2
    assert relay("why", "test/test_ops.py::TestOps::test_add", "--change", "1").out.count("must run by") == 1
    told = relay("why", "test_add", "--change", "1", "--json").json
    assert isinstance(told, dict)
    assert [it["test"].rpartition("::")[2] for it in told["considered"]] == ["test_add", "test_add_out"]


def test_a_variant_that_ran_leads_to_its_base_test(relay: Relay, service: StandIn) -> None:
    """Names are copied from a run's report, where variants are."""
    edited = ReasonMessage(stage=2, rule="edited test", evidence="", score=1.0)
    service.decisions = [decision(name, edited, must_run=True) for name in ("test_add", "test_relu")]
    ended = relay("why", "test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32", "--change", "1")
    assert ended.out.startswith("test/test_ops.py::TestOps::test_relu\n")


def test_a_test_that_a_run_did_not_consider(relay: Relay, service: StandIn) -> None:
    """The service knows no more, a checkout does."""
    ended = relay("why", "test_absent", "--change", "1")
    assert ended.code == 1
    assert "run 1 considered no test" in ended.err
    assert f"--base {'a' * 12} --head {'b' * 12}" in ended.err
    service.selection_state = None
    assert "selected nothing yet" in relay("why", "test_absent", "--change", "1").err


def test_a_run_that_there_is_not(relay: Relay, service: StandIn) -> None:
    ended = relay("why", "test_add", "--change", "77", "--json")
    assert "there is no run 77" in ended.error["message"]
