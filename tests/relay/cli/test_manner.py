"""Options that may stand anywhere: they mean the same everywhere, and no command has them for itself."""

from __future__ import annotations

import pytest

from relay.cli.manner import ANYWHERE, Manner, manner, to_the_front
from relay.cli.root import build
from tests.relay.cli.conftest import Relay
from tests.relay.cli.tree import commands
from tests.relay.stand_in import StandIn, closed_port


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("run list -q", "-q run list"),
        ("run list --fields a,b --json", "--fields a,b run list --json"),
        ("run list --color=never", "--color=never run list"),
        ("run list --color", "--color run list"),
        ("why -- --yes", "why -- --yes"),
        ("run cancel 7 --yes -- -q", "--yes run cancel 7 -- -q"),
    ],
)
def test_they_move_to_the_front(line: str, moved: str) -> None:
    """With their values, and not from behind `--`."""
    assert to_the_front(line.split()) == moved.split()


def test_no_command_has_an_option_of_these_names() -> None:
    """Else it would never see it."""
    taken = [
        (" ".join(path), name)
        for path, command in commands(build())
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name in ANYWHERE
    ]
    assert taken == []


def test_all_of_them_are_options_of_the_root() -> None:
    """And are explained there."""
    root = build()
    assert set(ANYWHERE) <= {name for parameter in root.params for name in parameter.opts}


def test_quiet_leaves_the_data_alone(relay: Relay, service: StandIn) -> None:
    """Beside the data nothing is said, but errors are."""
    ended = relay("run", "view", "1", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    assert "1 regression in 3 tests" in ended.out
    assert "there is no run 44" in relay("run", "view", "44", "-q").err


def test_verbose_names_the_requests(relay: Relay, service: StandIn) -> None:
    """On stderr, with their answers; the data is as ever."""
    ended = relay("-v", "run", "list", "--json")
    assert ended.json
    assert "GET /api/v1/runs?limit=20 -> 200" in ended.err
    with closed_port() as url:
        assert "no answer" in relay("-v", "run", "list", "--url", url).err


def test_less_and_more_at_once_is_a_usage_error(relay: Relay) -> None:
    ended = relay("run", "list", "-q", "-v")
    assert (ended.code, "--verbose" in ended.err) == (2, True)


def test_one_command_line_leaves_nothing_to_the_next(relay: Relay, service: StandIn) -> None:
    """Also when it was wrong."""
    relay("run", "view", "seven", "-q")
    assert manner() == Manner(quiet=True)
    assert relay("run", "view", "1").err == "next: relay run rerun 1 --failed\n"


@pytest.mark.parametrize(
    ("environment", "option", "coloured"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
    ],
    ids=str,
)
def test_colour_off_a_terminal(
    *,
    relay: Relay,
    service: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    option: tuple[str, ...],
    coloured: bool,
) -> None:
    """The option beats the environment, and NO_COLOR beats FORCE_COLOR; tabs stay tabs."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shown = relay("run", "list", *option).out
    assert ("1\t\x1b[1;31mfailure\x1b[0m\t#101" in shown) is coloured
    assert ("\x1b" in shown) is coloured


def test_a_colour_that_is_none(relay: Relay) -> None:
    """The three words are named."""
    ended = relay("run", "list", "--color", "blue")
    assert ended.code == 2
    assert "never" in ended.err


def test_typer_runs_without_its_own_completion_options() -> None:
    """`relay completion` is that, and says what it writes."""
    assert not [it for it in build().params if "completion" in str(it.name)]
