"""Every command can end with the codes that are documented for it, and ends with no other: each is in a transcript, or
in a test that starts what a transcript cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.cli.documented import codes_of
from relay.cli.root import build
from tests.relay.cli.conftest import Relay
from tests.relay.cli.playing import Step, commands_in
from tests.relay.cli.test_transcripts import TRANSCRIPTS
from tests.relay.cli.tree import commands

HERE = Path(__file__).parent
LEAVES = {
    path: {name for option in it.params for name in option.opts}
    for path, it in commands(build())
    if not getattr(it, "commands", None) or getattr(it, "invoke_without_command", False)
}

_GITHUB = "test_devgithub.py::test_deeds_reach_the_relay_one_by_one"
_PLAYED = "test_devgithub.py::test_a_backend_is_played"
_UNWRITTEN = "test_streams.py::test_what_cannot_be_written_is_told"
#: What needs a process of its own, a compiler, a GitHub or a whole service; and what fails only by what it writes to.
ELSEWHERE = {
    ("up", 0): "test_service.py::test_up_serves_until_a_signal",
    ("serve", 0): "test_service.py::test_serve_is_the_web_part_alone",
    ("background", 0): "test_background.py::test_it_goes_on_until_a_signal",
    ("worker", 0): "../../e2e/test_one_change.py::test_workers_are_there_when_there_is_no_work",
    ("demo", 0): "../../e2e/test_one_change.py::test_from_webhook_to_the_designed_verdict",
    ("allowlist show", 0): "test_allowlist.py::test_the_list_in_force_is_shown",
    ("device build", 0): "test_device.py::test_building_prints_the_path_and_is_quiet_the_second_time",
    ("device status", 0): "test_device.py::test_status_of_a_device_that_works",
    ("env add", 0): "test_environments.py::test_this_python_can_be_added_under_a_name_listed_and_removed",
    ("env remove", 0): "test_environments.py::test_this_python_can_be_added_under_a_name_listed_and_removed",
    ("map record", 0): "test_function_map.py::test_a_recorded_map_ties_a_test_to_what_it_executes",
    ("manifest model-ops", 0): "manifests/test_model_ops.py::test_what_a_model_uses_is_written_beside_it",
    ("devgithub", 0): "test_devgithub.py::test_serves_on_loopback_until_a_signal",
    ("devgithub open", 0): "test_devgithub.py::test_a_pull_request_is_opened_from_the_clone",
    ("devgithub comment", 0): "test_devgithub.py::test_somebody_comments_and_what_was_said_is_read",
    ("devgithub run", 0): _PLAYED,
    ("devgithub token", 0): _PLAYED,
    **{(f"devgithub {name}", 0): _GITHUB for name in ("sync", "label", "close", "reopen", "push", "rerun", "show")},
    ("manifest schema", 1): _UNWRITTEN,
    ("version", 1): _UNWRITTEN,
    ("completion", 1): _UNWRITTEN,
    ("help", 1): _UNWRITTEN,
}


def ends_of(step: Step) -> tuple[str, int] | None:
    """Which command a step runs and the code it ends with; None for one that leads to no command."""
    words = step.words[1]
    path = max((path for path in LEAVES if tuple(words[: len(path)]) == path), key=len, default=None)
    return None if path is None else (" ".join(path), int(step.said[-1].removeprefix("= ")))


PLAYED = {end for file in TRANSCRIPTS for step in commands_in(file) if (end := ends_of(step))}
DOCUMENTED = {(" ".join(path), int(code)) for path, options in LEAVES.items() for code in codes_of(path, options)}


def test_every_documented_end_is_shown() -> None:
    """A new command, and a new option that promises a code, fail here until somebody has seen it."""
    assert sorted(DOCUMENTED - PLAYED - set(ELSEWHERE)) == []


def test_no_other_end_is_shown() -> None:
    assert sorted(PLAYED - DOCUMENTED) == []
    assert sorted(set(ELSEWHERE) - DOCUMENTED) == []


def test_what_is_shown_elsewhere_is_there() -> None:
    """And is not in a transcript as well: then the line here is one too many."""
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (HERE / file).read_text(encoding="utf-8"), place
    assert sorted(set(ELSEWHERE) & PLAYED) == []


def test_every_error_has_a_next_step() -> None:
    """Of every transcript: a cause, and what to do about it."""
    for file in TRANSCRIPTS:
        for step in commands_in(file):
            errors = [line for line in step.said if line.startswith("! error: ")]
            hints = [line for line in step.said if line.startswith("! hint: ")]
            assert len(errors) <= 1
            assert hints or not errors or _says_it_itself(errors[0]), f"{file.name}: {step.line}"


def _says_it_itself(error: str) -> bool:
    """An error of a program of another room is one text: cause, and then what to do."""
    return any(word in error for word in ("Name a ", "See them: ", "Remove it ", "; choose ", "; unset "))


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_the_help_tells_the_codes(relay: Relay, path: tuple[str, ...]) -> None:
    told = ", ".join(str(int(code)) for code in codes_of(path, LEAVES[path]))
    assert f"Exit codes: {told}; `relay help exit-codes`" in " ".join(relay(*path, "--help").out.split())
