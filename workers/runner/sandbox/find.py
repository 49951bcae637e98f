"""Finds the strongest sandbox that works on this machine, and says in a sentence what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from enum import StrEnum
from functools import cache
from pathlib import Path

from workers.runner.sandbox.bubblewrap import Bubblewrap
from workers.runner.sandbox.interpreter import interpreter_folders
from workers.runner.sandbox.launch import Launch, Sandbox, SandboxLimits
from workers.runner.sandbox.syscalls import NoFilterError, filter_program
from workers.runner.sandbox.unconfined import Unconfined

DEFAULT_LIMITS = SandboxLimits()
#: Starting takes some hundredths of a second; a busy machine must not lose its wall for being slow.
_PROBE_S = 10.0
_WORDS = 300


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
        return Unconfined(f"RELAY_SANDBOX=off: {_what_is_weaker()}. Unset it to use bubblewrap")
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
    program = shutil.which("bwrap")
    if program is None:
        return Unconfined(f"bubblewrap is not installed: {_what_is_weaker()}. Install it: apt-get install bubblewrap")
    try:
        syscall_filter, problem = filter_program(), ""
    except NoFilterError as error:
        syscall_filter, problem = b"", f"test code may make any system call: {error}"
    sandbox = Bubblewrap(Path(program), syscall_filter, limits, problem)
    refusal = try_out(sandbox)
    return Unconfined(f"{refusal}: {_what_is_weaker()}. {_next_step()}") if refusal else sandbox


def try_out(sandbox: Sandbox) -> str:
    """Start `true` with everything a launch has. An empty text, or why it did not work."""
    output = os.memfd_create("output")
    try:
        readable = interpreter_folders(Path(sys.executable))
        process = sandbox.start(Launch(("true",), {"PATH": os.defpath}, Path("/"), readable, Path("/"), output=output))
        try:
            status = process.wait(_PROBE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"{sandbox.name} did not come up within {_PROBE_S:.0f} s"
        words = os.pread(output, _WORDS, 0).decode(errors="replace").strip().replace("\n", "; ")
    except OSError as error:
        return f"{sandbox.name} cannot start a program ({error})"
    finally:
        os.close(output)
    return "" if status == 0 else f"{sandbox.name} cannot start a program ({words or f'exit status {status}'})"


def _what_is_weaker() -> str:
    # No other user for root here: without a root folder of its own, that user may not even reach the interpreter.
    user = "root" if os.geteuid() == 0 else "the worker's own user"
    return f"test code runs as {user}, with the network, the processes and the files of this machine"


def _next_step() -> str:
    if os.geteuid() == 0:
        return "In a container, give it the capability SYS_ADMIN, or run the worker as a user who may make namespaces"
    return "Let users make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"
