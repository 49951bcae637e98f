"""Output that cannot be written: cause and next step on stderr, an exit code of its own for a reader that went away,
and no character that stops a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from relay.cli.exits import ExitCode, exit_code
from relay.cli.streams import NoOutput
from relay.views import Conclusion, RunState
from tests.relay.stand_in import StandIn, a_run, events_of

RELAY = f"{sys.executable} -m relay"
#: A command for each way to write: lines, JSON, help, bytes, a table, a script, a usage error in JSON.
WAYS = [
    "version",
    "version --json",
    "--help",
    "run report 3 --junit -",
    "run list",
    "run watch 1 --compact",
    "completion bash",
    "manifest schema",
    "run --json",
]


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A line of a shell, as people write them."""
    return subprocess.run(["bash", "-c", line], capture_output=True, env={**os.environ, **environment}, check=False)


@pytest.mark.parametrize("line", WAYS)
@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_what_cannot_be_written_is_told(service: StandIn, line: str, where: str) -> None:
    """Whatever way a command writes in."""
    done = shell(f"{RELAY} {line} {where}")
    error, hint = done.stderr.decode().splitlines()[-2:]
    assert error.startswith("error: ")
    assert "written" in error
    assert hint.startswith("hint: ")
    assert b"Traceback" not in done.stderr
    assert done.returncode == ExitCode.FAILED == exit_code(NoOutput("x"))


@pytest.mark.parametrize("line", WAYS)
def test_a_reader_that_goes_away_is_no_error(service: StandIn, line: str) -> None:
    """Nothing on stderr, and the code that shells give."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run([*RELAY.split(), *line.split()], stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert done.returncode == ExitCode.READER_GONE
    assert b"Traceback" not in done.stderr
    assert b"error" not in done.stderr


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_notes_that_cannot_be_written_change_nothing(service: StandIn, where: str) -> None:
    """The data and the exit code are what counts."""
    assert shell(f"{RELAY} run list --state cancelled {where}").returncode == ExitCode.OK
    assert shell(f"{RELAY} no-such-command {where}").returncode == ExitCode.USAGE


def test_a_closed_standard_input_has_nothing_in_it(service: StandIn) -> None:
    """It is not a reason to fail in another way than an empty one."""
    line = f"{RELAY} allowlist check - --json"
    assert shell(f"{line} <&-").stdout == shell(f"{line} </dev/null").stdout
    assert shell(f"{RELAY} run cancel 2 <&-", RELAY_OPERATOR_TOKEN="operator-token-of-the-stand-in").returncode == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_narrow_encoding_loses_characters_and_no_more(service: StandIn, encoding: str) -> None:
    """Titles may hold anything. JSON escapes what the encoding has not."""
    title = "Säure \N{GREEK SMALL LETTER BETA} \N{PILE OF POO} …"
    service.runs[5] = a_run(5, RunState.FINISHED, Conclusion.FAILURE, title=title)
    service.events = [it.model_copy(update={"text": title}) for it in events_of(5, 1)]
    for line in ("run list", "run view 5", "run watch 5", "status", "run list --color=always"):
        done = shell(f"{RELAY} {line}", PYTHONIOENCODING=encoding)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
        done.stdout.decode(encoding)
    told = json.loads(shell(f"{RELAY} run view 5 --json", PYTHONIOENCODING=encoding).stdout.decode(encoding))
    assert told["run"]["title"] == title


def test_an_argument_that_is_no_text_is_shown_harmless(service: StandIn) -> None:
    """File names are bytes; messages quote them."""
    done = shell(f"{RELAY} manifest check $'\\xff\\x1b[2J.yaml'")
    assert (done.returncode, b"Traceback" in done.stderr, b"\x1b" in done.stderr) == (1, False, False)
