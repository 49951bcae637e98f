"""`relay run`: what is shown, what is asked, and what a reader can do next."""

from __future__ import annotations

import pytest

from relay.contract import TestedOn
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import TOKEN, StandIn, a_failure, closed_port


def test_list_off_a_terminal_is_tabs_and_iso_times(relay: Relay, service: StandIn) -> None:
    """Lines that `cut -f` understands, without header, colour or boxes."""
    lines = relay("run", "list").out.splitlines()
    assert [line.split("\t")[:3] for line in lines] == [
        ["3", "success", "#103"],
        ["2", "running", "#102"],
        ["1", "failure", "#101"],
    ]
    assert lines[2].split("\t")[3:] == ["Change relu", "3/3", "2024-05-04T10:00:00+00:00"]


def test_untrusted_title_cannot_act_on_the_terminal(relay: Relay, service: StandIn) -> None:
    """Escape sequences and direction marks of a title are shown as replacements."""
    shown = relay("run", "list").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "Fix" in shown


def test_view_shows_headline_funnel_verdicts_failures_and_the_next_command(relay: Relay, service: StandIn) -> None:
    """All a reader needs of a red run, in the order of importance; the next command apart, on stderr."""
    ended = relay("run", "view", "1")
    parts = [
        "1 regression in 3 tests",
        "http://relay.invalid/runs/1",
        "1 source file changed",
        "offline ranker",
        "regression\t1",
        "test_relu_spyre_float32",
        "ops.yaml:12",
        "AssertionError: Tensor-likes are not close!",
    ]
    places = [ended.out.index(part) for part in parts]
    assert places == sorted(places)
    assert ended.err == "next: relay run rerun 1 --failed\n"


def test_long_detail_is_cut_after_the_assertion(relay: Relay, service: StandIn) -> None:
    """The first lines are shown, which is where a worker puts the assertion."""
    service.failures = [a_failure("AssertionError: first\n" + "frame\n" * 100)]
    shown = relay("run", "view", "1").out
    assert "    AssertionError: first\n" in shown
    assert 5 < shown.count("    frame\n") < 20


def test_view_as_json_holds_the_failures(relay: Relay, service: StandIn) -> None:
    """One object, nothing beside it."""
    ended = relay("run", "view", "1", "--json")
    assert isinstance(ended.json, dict)
    assert ended.json["run"]["conclusion"] == "failure"
    assert ended.json["failures"][0]["verdict"] == "regression"
    assert ended.json["failures_total"] == 1
    assert ended.err == ""


@pytest.mark.parametrize("line", ["view 44", "rerun 44", "watch 44"])
def test_unknown_run(relay: Relay, service: StandIn, line: str) -> None:
    """The number, the service and the way to the right numbers, for people and for programs."""
    ended = relay("run", *line.split())
    assert (ended.code, ended.out) == (1, "")
    assert f"there is no run 44 at {service.url}" in ended.err
    assert "relay run list" in ended.err
    assert relay("run", *line.split(), "--json").error["code"] == "not_found"


def test_service_that_does_not_answer(relay: Relay) -> None:
    """The address that was tried, and what to do."""
    with closed_port() as url:
        ended = relay("run", "list", "--url", url)
        as_json = relay("run", "list", "--url", url, "--json")
    assert ended.code == 1
    assert url in ended.err
    assert "relay up" in ended.err
    assert as_json.error["code"] == "unreachable"


def test_rerun_and_cancel_use_the_operator_token(relay: Relay, service: StandIn) -> None:
    """A rerun names the new run and how to watch it."""
    ended = relay("run", "rerun", "1", "--failed")
    assert "run 99 repeats run 1" in ended.out
    assert "relay run watch 99" in ended.err
    assert relay("run", "cancel", "2", "--json").json
    assert service.tokens == [f"Bearer {TOKEN}"] * 2


def test_everything_again_and_only_the_failed_is_a_usage_error(relay: Relay, service: StandIn) -> None:
    """Nothing is sent."""
    assert relay("run", "rerun", "1", "--full", "--failed").code == 2
    assert service.tokens == []
    assert "run 99 repeats run 1" in relay("run", "rerun", "1", "--full").out


def test_rerun_of_an_unfinished_run_says_so(relay: Relay, service: StandIn) -> None:
    """The service's explanation and its hint reach the reader."""
    ended = relay("run", "rerun", "2")
    assert "not finished yet" in ended.err
    assert "cancel it first" in ended.err


def test_no_token_asks_nobody(relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a token nothing is sent, and the reader learns where it comes from."""
    monkeypatch.delenv("RELAY_OPERATOR_TOKEN")
    ended = relay("run", "cancel", "2", "--json")
    assert (ended.code, ended.error["code"]) == (4, "no_token")
    assert "relay token show" in ended.error["hint"]
    assert service.tokens == []


def test_view_says_what_answered_and_that_nothing_confined_it(relay: Relay, service: StandIn) -> None:
    """One line for the environment; a missing sandbox is not overlooked."""
    service.tested_on = TestedOn(
        name="torch-2.13", torch_version="2.13.0", torch_git_sha="abc123" * 6, python_version="3.13.1",
        device_profile="compat", sandbox="none: bwrap is not installed",
    )  # fmt: skip  # as one reads it
    shown = relay("run", "view", "3").out
    assert "tested on\ttorch-2.13, torch 2.13.0 (abc123abc1), Python 3.13.1, device profile compat" in shown
    assert "warning: test processes were not in a sandbox (none: bwrap is not installed)" in shown
    service.tested_on = TestedOn(name="default", torch_version="2.13.0", sandbox="bubblewrap")
    shown = relay("run", "view", "3").out
    assert "sandbox\tbubblewrap" in shown
    assert "warning" not in shown
