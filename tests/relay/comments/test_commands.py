"""Lines as commands: verbs, names, targets, and what was probably meant."""

from __future__ import annotations

import pytest

from relay.comments.commands import MOST, Command, Target, Verb, commands_in


def only(text: str) -> Command:
    (command,) = commands_in(text)
    return command


@pytest.mark.parametrize(
    ("line", "verb", "names"),
    [
        ("/relay test", Verb.TEST, ()),
        ("/relay TEST all", Verb.TEST, ("all",)),
        ("/relay test a::B::c  d", Verb.TEST, ("a::B::c", "d")),
        ("/relay\ttest", Verb.TEST, ()),
        ("/relay retest", Verb.RETEST, ()),
        ("/relay cancel", Verb.CANCEL, ()),
        ("/relay why test_x", Verb.WHY, ("test_x",)),
        ("/relay help", Verb.HELP, ()),
        ("/relay help test", Verb.HELP, ("test",)),
        ("/relay", Verb.HELP, ()),
        ("/relay test ?", Verb.HELP, ("?",)),
    ],
)
def test_a_line_is_a_command(line: str, verb: Verb, names: tuple[str, ...]) -> None:
    command = only(line)
    assert (command.verb, command.names, command.target) == (verb, names, None)


@pytest.mark.parametrize(
    ("line", "names", "device"),
    [
        ("/relay retest on quartz", (), "quartz"),
        ("/relay test all a/b#7 on quartz", ("all",), "quartz"),
        ("/relay why test_x on quartz", ("test_x",), "quartz"),
        ("/relay test on", ("on",), ""),
        ("/relay test on quartz now", ("on", "quartz", "now"), ""),
    ],
)
def test_a_line_may_end_with_a_device(line: str, names: tuple[str, ...], device: str) -> None:
    assert (only(line).names, only(line).device) == (names, device)


@pytest.mark.parametrize("line", ["/relayed test", "/relay-test", "/relays", "/relay.test"])
def test_another_word_is_no_command(line: str) -> None:
    assert commands_in(line) == ()


@pytest.mark.parametrize(
    ("line", "nearest"),
    [
        ("/relay retset", Verb.RETEST),
        ("/relay tets", Verb.TEST),
        ("/relay rerun", Verb.TEST),
        ("/relay cancle", Verb.CANCEL),
        ("/relay stop", Verb.CANCEL),
        ("/relay wyh x", Verb.WHY),
        ("/relay ?", Verb.HELP),
        ("/relay approve", None),
        ("/relay retest one", Verb.RETEST),
        ("/relay why", Verb.WHY),
        ("/relay why a b", Verb.WHY),
        ("/relay cancel 7", Verb.CANCEL),
        ("/relay test a/b#1 c/d#2", Verb.TEST),
    ],
)
def test_a_wrong_line_has_a_nearest_right_one(line: str, nearest: Verb | None) -> None:
    command = only(line)
    assert (command.verb, command.nearest) == (None, nearest)


def test_a_pull_request_can_be_named() -> None:
    command = only("/relay why test_x pytorch/pytorch#123")
    assert (command.verb, command.names) == (Verb.WHY, ("test_x",))
    assert command.target == Target("pytorch/pytorch", 123)
    assert only("/relay cancel pytorch/pytorch#123").target == Target("pytorch/pytorch", 123)


def test_several_commands_come_in_their_order_and_are_bounded() -> None:
    found = commands_in("/relay cancel\nplease\n/relay test\n\n/relay why a")
    assert [command.verb for command in found] == [Verb.CANCEL, Verb.TEST, Verb.WHY]
    assert len(commands_in("/relay test\n" * 50)) == MOST + 1


def test_a_line_is_bounded() -> None:
    assert len(only(f"/relay why {'x' * 30_000}").line) <= 1_000
