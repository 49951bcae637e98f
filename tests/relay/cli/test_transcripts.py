"""Every command, as a person sees it: transcripts that are played again, word for word."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

import relay.cli
from relay.cli.exits import ExitCode
from relay.cli.root import build
from relay.failures import Failure
from tests.relay.cli.conftest import Relay
from tests.relay.cli.playing import Step, commands_in, fits, steps_in, written
from tests.relay.cli.test_why import FILES
from tests.relay.cli.tree import commands
from tests.relay.stand_in import StandIn
from tests.selector.upstream import Repository

#: What stands in it is about a machine with a record and wake-ups of its own.
_OF_ONE_MACHINE = "machine"
TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
TESTS = Path(__file__).parents[2]


def make_upstream(folder: Path) -> None:
    """A checkout whose last commit changes `roll_up`, at times that never change."""
    (folder / "upstream").mkdir()
    repository = Repository(folder / "upstream")
    repository.commit({**FILES})
    changed = FILES["torch/functional.py"].replace("return x\n\n", "return -x\n\n", 1)
    repository.commit({"torch/functional.py": changed})


def _played(file: Path) -> ParameterSet:
    alone = [pytest.mark.embedded("tells where the record is")] if file.stem == _OF_ONE_MACHINE else []
    return pytest.param(file, id=file.stem, marks=alone)


@pytest.mark.parametrize("file", [_played(file) for file in TRANSCRIPTS])
def test_the_transcript_is_what_happens(
    file: Path, relay: Relay, service: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step by step, against a service with a red, a running and a green run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_MANIFEST_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if file.stem == "selection":
        make_upstream(tmp_path)
    different = []
    for step in steps_in(file):
        if step.file:
            step.write(tmp_path)
            continue
        variables, words = Step(step.line.replace("<url>", service.url)).words
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            ended = relay(*words)
        said = written(
            ended.out,
            ended.err,
            ended.code,
            lambda text: text.replace(service.url, "<url>").replace(str(tmp_path), "~"),
        )
        if not fits(step.said, said):
            different.append("\n".join([f"$ {step.line}", *said]))
    assert not different, "\n".join(["these went differently:", *different])


def test_every_command_is_in_a_transcript() -> None:
    """A new command without one fails here."""
    played = [step.words[1] for file in TRANSCRIPTS for step in commands_in(file)]
    leaves = [path for path, command in commands(build()) if not getattr(command, "commands", None)]
    assert [path for path in leaves if not any(tuple(words[: len(path)]) == path for words in played)] == []


def test_every_exit_code_is_in_a_transcript() -> None:
    """But for Ctrl-C and a broken pipe, which need a process of their own: test_exits.py, test_streams.py."""
    codes = {int(step.said[-1].removeprefix("= ")) for file in TRANSCRIPTS for step in commands_in(file)}
    assert codes == {int(code) for code in ExitCode} - {ExitCode.INTERRUPTED, ExitCode.READER_GONE}


def test_every_error_is_in_a_test_or_a_transcript() -> None:
    """By its code, which scripts rely on, or by its class."""
    for module in pkgutil.walk_packages(relay.cli.__path__, "relay.cli."):
        importlib.import_module(module.name)
    files = [*TESTS.glob("**/*.py"), *TRANSCRIPTS]
    shown = "\n".join(file.read_text(encoding="utf-8") for file in files)
    words = set(re.findall(r"\w+", shown))
    unseen = [it for it in _below(Failure) if f'"{it.code}"' not in shown and it.__name__ not in words]
    assert unseen == []


def _below(kind: type[Failure]) -> list[type[Failure]]:
    return [it for sub in kind.__subclasses__() for it in (sub, *_below(sub))]
