"""Finds the strongest sandbox that works on this machine, and says in a sentence what is missing."""

from __future__ import annotations

from enum import StrEnum

from workers.runner.sandbox.launch import Sandbox, SandboxLimits
from workers.runner.sandbox.unconfined import Unconfined

DEFAULT_LIMITS = SandboxLimits()


class SandboxMode(StrEnum):
    """`RELAY_SANDBOX`: the strongest that works, a whole one or no worker, or none."""

    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"


class SandboxUnavailableError(Exception):
    """A sandbox is required and there is none; the message says why and what to do."""


def find_sandbox(*, required: bool = False, limits: SandboxLimits = DEFAULT_LIMITS) -> Sandbox:
    """The strongest sandbox that works here.

    Raises:
        SandboxUnavailableError: when `required` and something is missing.
    """
    found = Unconfined("bubblewrap is not installed: test code runs unconfined. Install it: apt-get install bubblewrap")
    if required and found.problem:
        raise SandboxUnavailableError(found.problem)
    return found


def choose_sandbox(mode: SandboxMode, limits: SandboxLimits = DEFAULT_LIMITS) -> Sandbox:
    """The sandbox that a setting asks for.

    Raises:
        SandboxUnavailableError: when one is required and something is missing.
    """
    if mode is SandboxMode.OFF:
        return Unconfined("the sandbox is switched off: test code runs unconfined. Unset RELAY_SANDBOX to use it")
    return find_sandbox(required=mode is SandboxMode.REQUIRED, limits=limits)
