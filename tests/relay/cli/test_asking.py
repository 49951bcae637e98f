"""Questions: asked on a terminal, answered by --yes, refused by --no-input, and not asked of scripts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import TOKEN, StandIn


def on_a_terminal(*arguments: str, answer: str = "") -> tuple[int, str]:
    """A command whose input and errors are a terminal: its code and what it said there. Its stdout goes nowhere, but
    for JSON, which is short."""
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "relay", *arguments],
        stdin=follower,
        stdout=follower if "--json" in arguments else subprocess.DEVNULL,
        stderr=follower,
        env={**os.environ, "RELAY_OPERATOR_TOKEN": TOKEN},
    )
    os.close(follower)
    said = b""
    with os.fdopen(leader, "rb+", buffering=0) as terminal:
        if answer:
            terminal.write(f"{answer}\n".encode())
        try:
            while chunk := terminal.read(4096):
                said += chunk
        except OSError:  # how Linux says that the other side is closed
            pass
    return process.wait(30), said.decode()


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("YES", 0), ("n", 1), ("", 1)])
def test_cancel_asks_on_a_terminal(service: StandIn, answer: str, code: int) -> None:
    """Only yes is yes; anything else, and the run is left alone."""
    ended, said = on_a_terminal("run", "cancel", "2", answer=answer or "\n")
    assert "cancel run 2 (#102, Change relu)? [y/N]" in said
    assert ended == code
    assert service.tokens == ([f"Bearer {TOKEN}"] if code == 0 else [])
    assert ("nothing was done" in said) is (code == 1)


def test_yes_is_not_asked(service: StandIn) -> None:
    code, said = on_a_terminal("run", "cancel", "2", "--yes")
    assert (code, "[y/N]" in said) == (0, False)


def test_no_input_fails_and_says_what_would_be_asked(service: StandIn) -> None:
    code, said = on_a_terminal("run", "cancel", "2", "--no-input")
    assert code == 1
    assert "this would ask: cancel run 2" in said
    assert "--yes" in said
    assert service.tokens == []


def test_all_dead_deliveries_are_many_so_it_asks(service: StandIn) -> None:
    """How many; named ones were meant by who named them."""
    service.letters = {"dead": 2}
    code, said = on_a_terminal("delivery", "replay", "--dead", answer="n")
    assert code == 1
    assert "send 2 dead deliveries again? [y/N]" in said
    assert service.tokens == []
    assert on_a_terminal("delivery", "replay", "--dead", "--yes")[0] == 0
    code, said = on_a_terminal("delivery", "replay", "1")
    assert (code, "[y/N]" in said) == (0, False)
    assert len(service.tokens) == 2


@pytest.mark.parametrize(("option", "answer", "code"), [("--no-input", "", "needs_yes"), ("-q", "n", "declined")])
def test_programs_learn_why_nothing_was_done(service: StandIn, option: str, answer: str, code: str) -> None:
    """By a code of their own."""
    ended, said = on_a_terminal("run", "cancel", "2", option, "--json", answer=answer)
    assert ended == 1
    assert f'"{code}"' in said


def test_a_script_is_not_asked(relay: Relay, service: StandIn) -> None:
    """It named the run; there is nobody to answer."""
    assert relay("run", "cancel", "2", "--no-input").code == 0
