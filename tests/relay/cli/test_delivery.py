"""`relay delivery`: what an operator sees of the outbox, and how dead deliveries are sent again."""

from __future__ import annotations

import pytest

from relay.context import RelayContext
from relay.store.crcr_models import OutboxItem, OutboxKind
from tests.relay.cli.conftest import Relay
from tests.relay.web.test_delivery_api import dead, put


def test_an_empty_outbox_says_so(relay: Relay, served: RelayContext) -> None:
    ended = relay("delivery", "list")
    assert (ended.code, ended.out) == (0, "")
    assert "nothing left the relay" in ended.err


def test_the_list_shows_errors_and_how_to_go_on(relay: Relay, served: RelayContext) -> None:
    put(served, 1)
    dead(served, kind=OutboxKind.DISPATCH, target="a/l2", last_error="no\x1b[2J\nsuch repository")
    ended = relay("delivery", "list")
    lines = [line.split("\t") for line in ended.out.splitlines()]
    assert [line[1:5] for line in lines] == [["dead", "dispatch", "a/l2", "3"], ["due", "hud", lines[1][3], "0"]]
    assert "\x1b" not in ended.out
    assert "such repository" in lines[0][6]
    assert "1 due, 1 dead" in ended.err
    assert "relay delivery replay --dead" in ended.err


def test_the_list_is_narrowed(relay: Relay, served: RelayContext) -> None:
    put(served, 2)
    (gone,) = dead(served, kind=OutboxKind.DISPATCH, target="a/l2")
    for option in (("--state", "dead"), ("--kind", "dispatch"), ("--target", "A/L2")):
        assert [line.split("\t")[0] for line in relay("delivery", "list", *option).out.splitlines()] == [str(gone)]
    assert len(relay("delivery", "list", "--limit", "1").out.splitlines()) == 1


def test_a_wrong_state_is_a_wrong_command(relay: Relay) -> None:
    ended = relay("delivery", "list", "--state", "deda")
    assert ended.code == 2
    assert "dead" in ended.err


def test_a_delivery_is_shown_with_what_stopped_it(relay: Relay, served: RelayContext) -> None:
    (gone,) = dead(served, kind=OutboxKind.DISPATCH, target="a/l2")
    ended = relay("delivery", "show", str(gone))
    assert ended.out.startswith(f"delivery {gone} (dispatch to a/l2) is dead\n")
    for part in ("attempts\t3", "last status\t404", "last error\tHTTP 404"):
        assert part in ended.out
    assert f"relay delivery replay {gone}" in ended.err
    (waiting,) = put(served, 1)
    assert "next attempt\t" in relay("delivery", "show", str(waiting)).out


def test_an_unknown_delivery_is_told_as_such(relay: Relay, served: RelayContext) -> None:
    ended = relay("delivery", "show", "99", "--json")
    assert ended.error["message"] == "There is no delivery 99."


def test_json_is_the_answer_of_the_service(relay: Relay, served: RelayContext) -> None:
    (gone,) = dead(served)
    listed, shown = relay("delivery", "list", "--json").json, relay("delivery", "show", str(gone), "--json").json
    assert isinstance(listed, dict)
    assert isinstance(shown, dict)
    assert listed["letters"] == [shown["letter"]]


def states(context: RelayContext) -> dict[int, str]:
    with context.store.reading() as session:
        return {row.id: str(row.state) for row in session.query(OutboxItem)}


def test_deliveries_are_sent_again_by_number(relay: Relay, served: RelayContext) -> None:
    first, second = dead(served, 2)
    (waiting,) = put(served, 1, kind=OutboxKind.CANCEL)
    ended = relay("delivery", "replay", str(first), str(waiting))
    assert ended.out == f"sending again: {first}\n"
    assert ended.err == f"not dead, so left alone: {waiting}\n"
    assert states(served) == {first: "due", second: "dead", waiting: "due"}


def test_all_dead_deliveries_of_a_target_are_sent_again(relay: Relay, served: RelayContext) -> None:
    (first,), (second,) = dead(served), dead(served, kind=OutboxKind.DISPATCH, target="a/l2")
    assert relay("delivery", "replay", "--dead", "--target", "a/l2", "--json").json == {
        "replayed": [second],
        "untouched": [],
    }
    assert states(served) == {first: "dead", second: "due"}
    assert relay("delivery", "replay", "--dead").out == f"sending again: {first}\n"
    assert relay("delivery", "replay", "--dead").out == "nothing to send again\n"
    assert relay("delivery", "replay", "--dead", "--json").json == {"replayed": [], "untouched": []}


@pytest.mark.parametrize("arguments", [(), ("1", "--dead")])
def test_a_replay_names_numbers_or_all(relay: Relay, arguments: tuple[str, ...]) -> None:
    ended = relay("delivery", "replay", *arguments)
    assert ended.code == 2
    assert "--dead" in ended.err
