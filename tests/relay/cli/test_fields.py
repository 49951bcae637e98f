"""`--fields`: what a script asks for and nothing else, and the names there are for one that is wrong."""

from __future__ import annotations

import json

import pytest
import typer

from relay.cli.fields import chosen, chosen_of_stream
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn

PAGE = {"runs": [{"id": 1, "end": {"at": 5, "by": "x"}}, {"id": 2, "end": None}], "next": None}


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        (["next"], {"next": None}),
        (["id"], [{"id": 1}, {"id": 2}]),
        (["runs.id", "next"], {"runs": [{"id": 1}, {"id": 2}], "next": None}),
        (["end.by"], [{"end": {"by": "x"}}, {"end": None}]),
        (["end.by", "end"], [{"end": {"at": 5, "by": "x"}}, {"end": None}]),
    ],
    ids=str,
)
def test_fields_of_an_object_and_of_a_page(fields: list[str], left: object) -> None:
    """Lists are walked through, what is null stays null, and a whole beats its parts."""
    assert chosen(PAGE, fields) == left


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (["idd"], "Did you mean 'id'"),
        (["end.of"], "Fields are: at, by"),
        (["id.x"], "no fields inside the value before '.x'"),
    ],
)
def test_a_field_that_there_is_not(fields: list[str], said: str) -> None:
    with pytest.raises(typer.BadParameter, match=said):
        chosen(PAGE, fields)


def test_an_empty_page_has_no_names_to_check() -> None:
    """A script gets its empty list."""
    assert chosen({"runs": [], "next": None}, ["id"]) == []


def test_lines_of_a_stream_without_the_fields_are_left_out() -> None:
    assert chosen_of_stream({"event": {"text": "x", "id": 1}}, ["event.text"], ("run", "event")) == {
        "event": {"text": "x"}
    }
    assert chosen_of_stream({"run": {"id": 1}}, ["event.text"], ("run", "event")) is None
    with pytest.raises(typer.BadParameter, match="Fields are: run, event"):
        chosen_of_stream({"run": {"id": 1}}, ["text"], ("run", "event"))


def test_fields_of_a_command(relay: Relay, service: StandIn) -> None:
    """Anywhere in the line; the error names the fields as JSON as well."""
    assert relay("run", "list", "--json", "--fields", "id,conclusion").json == [
        {"id": 3, "conclusion": "success"},
        {"id": 2, "conclusion": None},
        {"id": 1, "conclusion": "failure"},
    ]
    assert relay("--fields=run.id,failures.id", "run", "view", "1", "--json").json == {
        "run": {"id": 1},
        "failures": [{"id": "test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32"}],
    }
    wrong = relay("run", "list", "--json", "--fields", "idd")
    assert (wrong.code, wrong.error["code"]) == (2, "usage")
    assert "Did you mean 'id'?" in wrong.error["message"]


def test_fields_of_a_watch(relay: Relay, service: StandIn) -> None:
    """A line each for what has them."""
    out = relay("run", "watch", "1", "--json", "--fields", "event.text,run.state").out
    assert [json.loads(line) for line in out.splitlines()] == [
        {"run": {"state": "finished"}},
        {"event": {"text": "event 1"}},
        {"event": {"text": "event 2"}},
        {"run": {"state": "finished"}},
    ]


def test_fields_are_of_json_only(relay: Relay, service: StandIn) -> None:
    """Without it nothing is done."""
    ended = relay("run", "list", "--fields", "id")
    assert (ended.code, ended.out) == (2, "")
    assert "add --json" in ended.err
