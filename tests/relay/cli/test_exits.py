"""The exit code table is complete, printed, and kept: one command line for each code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from relay.cli.exits import MEANINGS, ExitCode, exit_code
from relay.client import Conflict, Unauthorized
from relay.failures import Failure
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn

TABLE = [
    (ExitCode.OK, "run list"),
    (ExitCode.OK, "run view 1"),
    (ExitCode.OK, "run watch 1"),
    (ExitCode.OK, "run view 3 --exit-status"),
    (ExitCode.FAILED, "run view 44"),
    (ExitCode.FAILED, "run rerun 2"),
    (ExitCode.USAGE, "run view"),
    (ExitCode.USAGE, "run list --state runing"),
    (ExitCode.USAGE, "run list --no-such-option"),
    (ExitCode.LOGIN, "run cancel 1"),
    (ExitCode.RED, "run view 1 --exit-status"),
    (ExitCode.RED, "run watch 1 --exit-status"),
    (ExitCode.PENDING, "run watch 2 --timeout 0.1"),
]


def test_every_code_has_a_meaning_and_is_in_the_help(relay: Relay) -> None:
    """Nobody has to read the source for a number."""
    shown = relay("--help").out
    assert set(MEANINGS) == set(ExitCode)
    assert [code for code, meaning in MEANINGS.items() if f"{code.value:<5}{meaning[:30]}" not in shown] == []


@pytest.mark.parametrize(("code", "line"), TABLE, ids=str)
def test_exit_code(relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch, code: ExitCode, line: str) -> None:
    """Each command line of the table ends with its code."""
    if code is ExitCode.LOGIN:
        monkeypatch.setenv("RELAY_OPERATOR_TOKEN", "not-the-token-of-this-service")
    assert relay(*line.split()).code == code


def test_interrupted_watch_leaves_the_run_alone(service: StandIn) -> None:
    """Ctrl-C ends with 130, says that the run goes on, and asks nothing of the service."""
    command = [sys.executable, "-m", "relay", "run", "watch", "2"]
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})
    with watch:
        assert watch.stdout is not None
        assert watch.stdout.readline().startswith("run 2: http://")
        assert "event 1" in watch.stdout.readline()
        watch.send_signal(signal.SIGINT)
        _, err = watch.communicate(timeout=30)
    assert watch.returncode == ExitCode.INTERRUPTED
    assert "relay run watch 2" in err
    assert "Traceback" not in err
    assert service.tokens == []


def test_failures_without_a_code_of_their_own_are_1() -> None:
    """Only a missing or refused token is told apart."""
    assert exit_code(Failure("x")) is ExitCode.FAILED
    assert exit_code(Conflict("x")) is ExitCode.FAILED
    assert exit_code(Unauthorized("x", code="a_code_of_the_service")) is ExitCode.LOGIN
