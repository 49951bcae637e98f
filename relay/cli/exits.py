"""The exit codes of `relay`, one table. Scripts rely on these numbers; a test holds the commands to it.

Standard library and `relay.failures` only: this is imported by every start of the command.
"""

from __future__ import annotations

from enum import IntEnum

from relay.failures import Failure


class ExitCode(IntEnum):
    """After `gh help exit-codes`, and click's 2 for usage. The last two are 128 and a signal's number, as shells tell
    of it: SIGINT, SIGPIPE."""

    OK = 0
    FAILED = 1
    USAGE = 2
    LOGIN = 4
    RED = 5
    PENDING = 8
    INTERRUPTED = 130
    READER_GONE = 141


MEANINGS = {
    ExitCode.OK: "it worked; also when a selection is empty",
    ExitCode.FAILED: "it did not work, the message says why",
    ExitCode.USAGE: "the command line is wrong",
    ExitCode.LOGIN: "a token is missing or not accepted",
    ExitCode.RED: "with --exit-status or --fail-fast: a run is red or was cancelled; or manifests differ or are stale",
    ExitCode.PENDING: "the run was still going at --timeout",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C",
    ExitCode.READER_GONE: "whoever read the output went away, as in `relay run list | head -1`",
}


def exit_code(failure: Failure) -> ExitCode:
    """The exit code of a failed command."""
    return ExitCode.LOGIN if failure.needs_login else ExitCode.FAILED
