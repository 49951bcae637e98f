"""What a machine lacks is said in one sentence with what to do, and a required sandbox is there or an error."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from relay.contract import SHORT_CAP
from tests.workers.runner.sandbox.inside import run_inside, without_libseccomp
from workers.runner.sandbox import (
    Sandbox,
    SandboxLimits,
    SandboxMode,
    SandboxUnavailableError,
    Unconfined,
    choose_sandbox,
    find_sandbox,
    hints,
)
from workers.runner.sandbox.find import look_for_sandbox
from workers.runner.sandbox.syscalls import filter_program

#: What there is without bubblewrap is the kernel's.
WEAKER = {"landlock", "none"}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one empty folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_without_bubblewrap_the_sentence_says_how_to_install_it(programs: Path) -> None:
    found = look_for_sandbox()
    assert (found.name in WEAKER, list(programs.iterdir())) == (True, [])
    assert "apt-get install bubblewrap" in found.problem


def test_a_bubblewrap_that_does_not_start_is_named_with_its_own_words(programs: Path) -> None:
    program = programs / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    found = look_for_sandbox()
    assert found.name in WEAKER
    assert "No permissions to create new namespace" in found.problem


@pytest.mark.parametrize("filtered", [True, False])
def test_what_to_do_is_not_cut_off_where_a_worker_is_shown(
    programs: Path, filtered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much bubblewrap says, and whichever hint it is."""
    if not filtered:
        without_libseccomp(tmp_path, monkeypatch)
    program = programs / "bwrap"
    program.write_text(f"#!/bin/sh\necho 'bwrap: {'Can not mount proc on /newroot/proc ' * 20}' >&2\nexit 1\n")
    program.chmod(0o755)
    steps = [text for name, text in vars(hints).items() if name.startswith("_") and isinstance(text, str)]
    longest = max((text for text in steps if len(text) > 50), key=len)
    monkeypatch.setattr("workers.runner.sandbox.find.next_step", lambda *_: longest)
    found = look_for_sandbox()
    assert found.problem.endswith(longest)
    assert len(f"{found.name}: {found.problem}") <= SHORT_CAP
    filter_program.cache_clear()


def test_required_refuses_what_is_missing(programs: Path) -> None:
    limits = SandboxLimits(processes=257)  # nobody has looked with these in this process
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        find_sandbox(required=True, limits=limits)
    assert choose_sandbox(SandboxMode.AUTO, limits).name in WEAKER


def test_off_is_none_and_says_so(sandbox: Sandbox) -> None:
    found = choose_sandbox(SandboxMode.OFF)
    assert (found.name, "RELAY_SANDBOX=off" in found.problem) == ("none", True)
    assert choose_sandbox(SandboxMode.REQUIRED).name == sandbox.name == "bubblewrap"


def test_it_is_looked_for_once() -> None:
    assert find_sandbox() is find_sandbox()


def test_without_the_filter_bubblewrap_is_used_and_the_gap_named(
    sandbox: Sandbox, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_libseccomp(tmp_path, monkeypatch)
    found = look_for_sandbox()
    assert (found.name, "apt-get install libseccomp2" in found.problem) == (sandbox.name, True)
    program = "print(next(line for line in open('/proc/self/status') if line.startswith('Seccomp:')))"
    assert run_inside(found, (sys.executable, "-c", program), checkout)[1].split() == ["Seccomp:", "0"]


def test_unconfined_says_what_it_was_told() -> None:
    assert Unconfined("why").problem == "why"
