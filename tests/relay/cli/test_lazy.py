"""Commands are made when they are reached, and the list of them tells the truth without them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.core import TyperGroup

from relay.cli.root import COMMANDS, build
from tests.relay.cli.conftest import Relay


@pytest.mark.parametrize("name", COMMANDS)
def test_every_entry_leads_to_its_command(name: str) -> None:
    """What is in its place is made under its name, a group with its commands, and has a help of its own."""
    root = build()
    root.load(name)
    command = root.commands[name]
    assert command.name == name
    assert command.help
    assert isinstance(command, TyperGroup) is COMMANDS[name].place.endswith("app")
    assert not isinstance(command, TyperGroup) or command.commands


def test_the_help_lists_whole_sentences(relay: Relay) -> None:
    """None is cut off for want of room."""
    shown = relay("--help").out
    assert "...\n" not in shown.partition("Commands:")[2]
    assert [name for name, entry in COMMANDS.items() if entry.summary not in shown] == []


def test_nothing_of_a_command_is_imported_for_the_help() -> None:
    """Nor for another one."""
    code = (
        "import sys\nfrom relay.cli import run\n"
        "assert run(['--help']) == 0\n"
        "assert run(['run', 'watch', '--help']) == 0\n"
        "others = {'relay.cli.select', 'relay.cli.manifests', 'relay.cli.devgithub'}\n"
        "sys.exit(' '.join(sorted(others & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_name_that_there_is_not_makes_nothing() -> None:
    root = build()
    root.load("rum")
    assert set(root.commands) == set(COMMANDS)
