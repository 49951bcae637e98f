"""Finds the strongest sandbox that works on this machine, and says in a sentence what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from enum import StrEnum
from functools import cache
from pathlib import Path

from workers.runner.sandbox.bubblewrap import Bubblewrap
from workers.runner.sandbox.guard import landlock_version
from workers.runner.sandbox.guarded import KEEPS_SIGNALS, Guarded, Unconfined
from workers.runner.sandbox.hints import Surroundings, next_step
from workers.runner.sandbox.interpreter import interpreter_folders
from workers.runner.sandbox.launch import Launch, Sandbox, SandboxLimits
from workers.runner.sandbox.syscalls import NoFilterError, filter_program

DEFAULT_LIMITS = SandboxLimits()
#: Starting takes some hundredths of a second; a busy machine must not lose its wall for being slow.
_PROBE_S = 10.0
#: Of its own words: what to do has to have room behind them where a worker is shown.
_WORDS = 100
_NOTHING = "test code has the worker's user, files and network"


class SandboxMode(StrEnum):
    """`RELAY_SANDBOX`: the strongest that works, a whole one or no worker, or none."""

    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"


class SandboxUnavailableError(Exception):
    """A sandbox is required and there is none, or not a whole one; the message says why and what to do."""


def choose_sandbox(mode: SandboxMode, limits: SandboxLimits = DEFAULT_LIMITS) -> Sandbox:
    """The sandbox that a setting asks for.

    Raises:
        SandboxUnavailableError: when one is required and something is missing.
    """
    if mode is SandboxMode.OFF:
        return Unconfined(f"RELAY_SANDBOX=off: {_NOTHING}. Unset it to use bubblewrap", limits)
    return find_sandbox(required=mode is SandboxMode.REQUIRED, limits=limits)


def find_sandbox(*, required: bool = False, limits: SandboxLimits = DEFAULT_LIMITS) -> Sandbox:
    """The strongest sandbox that works here. Looked for once per process, by really starting a program in it.

    Raises:
        SandboxUnavailableError: when `required` and something is missing.
    """
    found = _found(limits)
    if required and found.problem:
        raise SandboxUnavailableError(found.problem)
    return found


@cache
def _found(limits: SandboxLimits) -> Sandbox:
    return look_for_sandbox(limits)


def look_for_sandbox(limits: SandboxLimits = DEFAULT_LIMITS) -> Sandbox:
    """What `find_sandbox` keeps: looked for anew."""
    try:
        calls, missing = filter_program(), ""
    except NoFilterError as error:
        calls, missing = b"", str(error)
    program = shutil.which("bwrap")
    if program is None:
        return _without("bubblewrap is not installed", "Install it: apt-get install bubblewrap", limits)
    sandbox = Bubblewrap(Path(program), calls, limits, missing and f"test code may make any system call: {missing}")
    refusal = try_out(sandbox)
    if not refusal:
        return sandbox
    return _without(refusal, next_step(refusal, Surroundings.read(Path(program))), limits)


def _without(reason: str, step: str, limits: SandboxLimits) -> Sandbox:
    """The strongest that does without bubblewrap, and `step`, which would make bubblewrap work."""
    version = landlock_version()
    try:
        calls = filter_program(pairs_only=True)
    except NoFilterError as error:
        return Unconfined(f"{reason}, and {error}: {_NOTHING}. {step}", limits)
    sandbox = Guarded(f"{reason}: {_what_is_weaker(version)}. {step}", limits, version, calls)
    if not version or (refusal := try_out(sandbox)):
        missing = refusal if version else "this kernel has no Landlock"
        return Unconfined(f"{reason}, and {missing}: {_NOTHING}. {step}", limits)
    return sandbox


def try_out(sandbox: Sandbox) -> str:
    """Start `true` with everything a launch has. An empty text, or why it did not work."""
    output = os.memfd_create("output")
    try:
        readable = interpreter_folders(Path(sys.executable))
        with tempfile.TemporaryDirectory(prefix="sandbox-") as scratch:
            launch = Launch(("true",), {"PATH": os.defpath}, Path("/"), readable, Path(scratch), output=output)
            process = sandbox.start(launch)
            try:
                status = process.wait(_PROBE_S)
            except subprocess.TimeoutExpired:
                return f"{sandbox.name} did not come up within {_PROBE_S:.0f} s"
            finally:
                sandbox.end(process)
        words = os.pread(output, _WORDS, 0).decode(errors="replace").strip().replace("\n", "; ")
    except OSError as error:
        return f"{sandbox.name} cannot start a program ({error})"
    finally:
        os.close(output)
    return "" if status == 0 else f"{sandbox.name} cannot start a program ({words or f'exit status {status}'})"


def _what_is_weaker(version: int) -> str:
    user = "a user of its own" if os.geteuid() == 0 else "the worker's own user"
    more = "" if version >= KEEPS_SIGNALS or os.geteuid() == 0 else ", can end the worker"
    return f"test code runs as {user} behind Landlock alone and sees what else runs here{more}"
