"""Running another room's program for a command: rooms that must not be imported answer on standard output.

The program is run by this interpreter and gets no secret; `-P` keeps the folder the command was called in (a PyTorch
checkout, perhaps) off its path.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, NamedTuple

from relay.machine.processes import minimal_environment

#: What a program's last message begins with, when it fails.
ERROR = "error: "


class Answer(NamedTuple):
    """How a program ended: exit code, what it wrote to standard output, and the error it ended with."""

    code: int
    output: str
    error: str


def run_program(
    module: str,
    arguments: tuple[str, ...],
    told: Mapping[str, str],
    note: Callable[[str], None],
    *,
    timeout_s: float | None = None,
    asked: str = "",
) -> Answer:
    """Run `python -m module`. `told` are variables it gets, `asked` its standard input; what it says before its error
    goes to `note` at once. After `timeout_s` it is killed, and its answer is empty."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        env=minimal_environment(os.environ, dict(told)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as program:
        assert program.stdin and program.stdout and program.stderr  # noqa: S101, PT018 - all are pipes, above
        clock = threading.Timer(timeout_s, program.kill) if timeout_s else None
        if clock is not None:
            clock.start()
        with suppress(BrokenPipeError):  # it did not want to know
            program.stdin.write(asked)
            program.stdin.close()
        error = _last_words(program.stderr, note)
        output = program.stdout.read()
        if clock is not None:
            clock.cancel()
    return Answer(program.returncode, output, error)


def _last_words(lines: IO[str], note: Callable[[str], None]) -> str:
    """The message that begins with `error: ` and goes on to the end; every line before it is passed on."""
    error: list[str] = []
    for line in lines:
        if error or line.startswith(ERROR):
            error.append(line)
        else:
            note(line.rstrip())
    return "".join(error).removeprefix(ERROR).rstrip()
