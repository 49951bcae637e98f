"""Untrusted text is harmless, terminals get colour and words, pipes get tabs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from relay.cli.output import clean, one_line, wants_json
from tests.relay.stand_in import StandIn


def on_a_terminal(arguments: list[str], **environment: str) -> str:
    """What a command writes to a terminal of 100 columns, or of COLUMNS."""
    leader, follower = os.openpty()
    settings = {"TERM": "xterm-256color", "COLUMNS": "100", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "relay", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=subprocess.DEVNULL,
        env={**{k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR"}}, **settings},
    )
    os.close(follower)
    written = b""
    with os.fdopen(leader, "rb", buffering=0) as terminal:
        try:
            while chunk := terminal.read(4096):
                written += chunk
        except OSError:  # how Linux says that the other side is closed
            pass
    process.wait(30)
    return written.decode()


def test_terminal_gets_header_colour_and_relative_times(service: StandIn) -> None:
    """A state is glyph, word and colour; a time says how long ago."""
    shown = on_a_terminal(["run", "list"])
    assert "STATE" in shown
    assert "\x1b[1;31m" in shown
    assert "\N{BALLOT X} failure" in shown
    assert " ago" in shown
    assert not set(shown) & set("╭─│╰┃━")


@pytest.mark.parametrize("columns", ["1", "20", "45", "59"])
def test_a_narrow_terminal_loses_nothing(service: StandIn, columns: str) -> None:
    """Where columns have no room each cell is a line; what is longer is for the terminal to wrap."""
    shown = on_a_terminal(["run", "list", "--state", "failure"], COLUMNS=columns, NO_COLOR="1")
    plain = [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in shown.split("\r\n")]
    assert plain[:5] == ["RUN: 1", "STATE: ✗ failure", "CHANGE: #101", "TITLE: Change relu", "TESTS: 3/3"]
    wide = on_a_terminal(["run", "list", "--state", "failure"], COLUMNS="60", NO_COLOR="1")
    assert "RUN:" not in wide
    assert "Change" in wide


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_colour_is_left_out_where_it_is_not_wanted(service: StandIn, environment: dict[str, str]) -> None:
    """The words remain."""
    shown = on_a_terminal(["run", "list"], **environment)
    assert "failure" in shown
    assert "\x1b[3" not in shown
    assert "\x1b[1;3" not in shown


def test_untrusted_text_is_made_harmless() -> None:
    """No control character, no direction mark, no endless line; line ends survive where lines are shown."""
    assert clean("a\x1b[2Jb\x07\u202ec\n\td") == "a\ufffd[2Jb\ufffd\ufffdc\n d"
    assert one_line("a\n\n  b\tc") == "a b c"
    assert len(clean("x" * 10_000, 100)) == 101


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("run list --json", True),
        ("select --format json", True),
        ("select --format=json", True),
        ("select --format ids json", False),
        ("select -- --json", False),
        ("run list", False),
    ],
)
def test_json_is_recognised_in_any_command_line(line: str, wanted: bool) -> None:
    """Also in one that turns out to be wrong."""
    assert wants_json(line.split()) is wanted
