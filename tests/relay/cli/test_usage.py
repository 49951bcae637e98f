"""A wrong command line is answered with what was probably meant, for every option of every command."""

from __future__ import annotations

import pytest

from relay.cli.manner import ANYWHERE
from relay.cli.root import build
from tests.relay.cli.conftest import Relay
from tests.relay.cli.tree import commands

LEAVES = [(path, command) for path, command in commands(build()) if not getattr(command, "commands", None)]


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=lambda it: " ".join(it) if isinstance(it, tuple) else "")
def test_every_option_is_guessed_from_a_slip(relay: Relay, path: tuple[str, ...], command: object) -> None:
    """A letter twice."""
    options = [it for it in getattr(command, "params", ()) if not getattr(it, "hidden", False)]
    names = [name for it in options for name in it.opts if name.startswith("--")]
    for name in names:
        slip = f"{name[:4]}{name[3:]}"
        ended = relay(*path, slip)
        assert (ended.code, ended.out) == (2, "")
        assert f"No such option: {slip}. Did you mean '{name}'?" in ended.err
        assert f"hint: `relay {' '.join(path)} --help`" in ended.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run list --stat x", "Did you mean '--state' or '--status'?"),
        ("run watch --fail", "Did you mean '--fail-fast'?"),
        ("run list --colour=never", "Did you mean '--color'?"),
        ("--josn run list", "Did you mean '--json'?"),
        ("run --jsn list", "Did you mean '--json'?"),
        ("--url x run list", "It belongs to a command: write --url after it, `relay COMMAND --url`"),
        ("run --limit 3 list", "It belongs to a command: write --limit after it, `relay run COMMAND --limit`"),
        ("select --base x --format jsn", "Did you mean 'json'?"),
        ("completion bsh", "Did you mean 'bash'?"),
        ("run list --color alway", "Did you mean 'always'?"),
    ],
)
def test_the_nearest_right_word(relay: Relay, line: str, said: str) -> None:
    """Also of values of which there are a few, and of what stands in the wrong place."""
    ended = relay(*line.split())
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


@pytest.mark.parametrize("line", ["run list --failed", "run list --qqqq", "why x -z", "run list --xyzzy=1"])
def test_no_guess_is_better_than_a_wild_one(relay: Relay, line: str) -> None:
    assert "Did you mean" not in relay(*line.split()).err


def test_the_hint_names_the_command_also_where_the_library_does_not(relay: Relay) -> None:
    """Of an option without its value the library tells no command."""
    for path, command in LEAVES:
        options = [it for it in getattr(command, "params", ()) if it.param_type_name == "option"]
        for option in [it for it in options if not it.is_flag and not it.hidden][:1]:
            ended = relay(*path, option.opts[0])
            assert f"hint: `relay {' '.join(path)} --help` shows how it is used" in ended.err.splitlines()


def test_what_may_stand_anywhere_is_no_option_of_a_command() -> None:
    """Else it would never get there."""
    assert [path for path, it in LEAVES if {name for option in it.params for name in option.opts} & set(ANYWHERE)] == []
