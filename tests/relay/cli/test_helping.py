"""`relay help` and `relay completion`: every command explained, and completed by a real shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relay.cli.exits import MEANINGS
from relay.cli.helping import TOPICS
from tests.relay.cli.conftest import Relay


def test_exit_codes_are_a_page_of_their_own(relay: Relay) -> None:
    """All of them, for people and for programs."""
    shown = relay("help", "exit-codes").out
    assert [code for code, meaning in MEANINGS.items() if f"{code.value:<5}{meaning}" not in shown] == []
    told = relay("help", "exit-codes", "--json").json
    assert isinstance(told, dict)
    assert told["exit_codes"] == {str(code.value): meaning for code, meaning in MEANINGS.items()}


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_a_page(relay: Relay, topic: str) -> None:
    """Named in the help of help."""
    assert len(relay("help", topic).out.splitlines()) > 3
    assert topic in relay("help", "--help").out


@pytest.mark.parametrize("line", ["", "run", "run watch", "manifest check"])
def test_help_of_a_command_is_its_help(relay: Relay, line: str) -> None:
    """Word for word."""
    assert relay("help", *line.split()).out == relay(*line.split(), "--help").out


@pytest.mark.parametrize(("line", "guess"), [("rnu", "run"), ("run wach", "watch"), ("exit-code", "exit-codes")])
def test_a_page_that_there_is_not(relay: Relay, line: str, guess: str) -> None:
    ended = relay("help", *line.split())
    assert ended.code == 2
    assert f"Did you mean '{guess}'?" in ended.err


def test_every_help_says_what_may_stand_anywhere(relay: Relay) -> None:
    assert "may stand anywhere" in relay("run", "list", "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_gets_its_script(relay: Relay, shell: str) -> None:
    ended = relay("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert "_RELAY_COMPLETE" in ended.out


def test_a_shell_that_is_not_known(relay: Relay) -> None:
    ended = relay("completion", "tcsh")
    assert ended.code == 2
    assert "powershell" in ended.err


def test_bash_completes_commands_and_options(relay: Relay, tmp_path: Path) -> None:
    """With the script as it is written, in a bash that knows nothing else."""
    program = tmp_path / "relay"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relay "$@"\n')
    program.chmod(0o755)
    ask = """
COMP_WORDS=(relay run wa); COMP_CWORD=2; _relay_completion relay; echo "${COMPREPLY[@]}"
COMP_WORDS=(relay run watch --fail); COMP_CWORD=3; _relay_completion relay; echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", relay("completion", "bash").out + ask],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": os.getcwd()},
    )
    assert done.stdout.splitlines() == ["watch", "--fail-fast"]
