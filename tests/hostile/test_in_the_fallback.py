"""The same attack where bubblewrap is not installed: what the README promises of that holds, and what it does not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.claims import (
    Attacked,
    every_test_is_seen_as_what_it_was,
    every_try_is_refused,
    nothing_gets_out,
    nothing_is_left,
    the_worker_works_on,
)
from tests.hostile.machine import a_machine
from tests.hostile.orders import ENDLESS, HONEST, REPORTING, REST
from tests.workers.runner.sandbox.inside import missing
from workers.runner.sandbox.guard import landlock_version
from workers.runner.sandbox.guarded import KEEPS_SIGNALS

pytestmark = pytest.mark.e2e
POISONING = "test_poisoning.py::TestPoisoning::test_files"
#: Without what takes room until the guard looks, which ends everything (`test_guarded.py`).
HELD = tuple(order for order in REPORTING if not order[0].endswith("::test_room"))
#: The times of files that anybody may write to, which the kernel lets anybody set.
NOT_HELD = {POISONING: {"time token", "time key", "time another tree"}}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """As root: a user without rights stays the worker's own there (`test_guarded.py`)."""
    if os.geteuid() != 0 or landlock_version() < KEEPS_SIGNALS:
        missing(f"not root, or this kernel has version {landlock_version()} of Landlock and not {KEEPS_SIGNALS}")
    folder = tmp_path_factory.mktemp("machine")
    with a_machine(folder, PATH=str(_programs_without_bubblewrap(folder / "bin"))) as machine:
        yield Attacked.by(machine, (*HELD, *REST, ENDLESS, *HONEST))


@pytest.mark.parametrize("name", [name for name, _ in HELD])
def test_only_what_is_named_gets_through(attacked: Attacked, name: str) -> None:
    every_try_is_refused(attacked.machine.reports[name], NOT_HELD.get(name, ()))


def test_what_there_is_to_take_is_bounded(attacked: Attacked) -> None:
    found = attacked.measures()
    assert 0 < found["processes"] < 256
    assert 0 < found["threads"] < 256
    assert found["descriptors"] < 4096
    assert found["user"] != 0
    # To look for files, of which Landlock shows the launch's alone.
    assert found["capabilities"] == dict.fromkeys(("CapEff", "CapPrm", "CapAmb", "CapBnd"), f"{4:016x}")
    assert (found["new privileges"], found["filter"]) == ("1", "2")


def test_the_attack_changes_no_outcome_of_others(attacked: Attacked) -> None:
    every_test_is_seen_as_what_it_was(attacked)


def test_no_secret_and_no_word_gets_out(attacked: Attacked) -> None:
    nothing_gets_out(attacked)


def test_no_process_and_no_file_is_left(attacked: Attacked) -> None:
    nothing_is_left(attacked)


def test_the_worker_does_its_next_shard_right(attacked: Attacked) -> None:
    the_worker_works_on(attacked)


def test_the_worker_says_what_it_lacks(attacked: Attacked) -> None:
    """At its start, to the relay while it is there, and with every shard that it asks for."""
    machine = attacked.machine
    assert "the sandbox is not whole" in machine.log()
    said = machine.relay.present[0].sandbox
    assert {wanted.sandbox for wanted in machine.relay.wanted} == {said}
    assert said.startswith("landlock: bubblewrap is not installed: test code runs as a user of its own behind Landlock")
    assert said.endswith("Install it: apt-get install bubblewrap")


def _programs_without_bubblewrap(folder: Path) -> Path:
    """A folder with links to what PATH has, first come first served."""
    folder.mkdir()
    for place in map(Path, os.get_exec_path()):
        for program in place.iterdir() if place.is_dir() else ():
            link = folder / program.name
            if program.name != "bwrap" and not link.is_symlink():
                link.symlink_to(program)
    return folder
