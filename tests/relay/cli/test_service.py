"""`relay up` and `relay serve` as processes: address on stdout, log on stderr, a clean end on Ctrl-C and SIGTERM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relay.client import ApiClient
from relay.machine.state_folder import announced_url
from tests.relay.cli.conftest import Relay


@contextmanager
def started(state_dir: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A relay command in the foreground of its own process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "relay", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RELAY_STATE_DIR": str(state_dir), "RELAY_MANIFEST_DIR": str(state_dir)},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def address_in(line: str) -> str:
    return next(word.rstrip(";") for word in line.split() if word.startswith("http://"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_serves_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """Address first, then silence on stdout; the signal ends it with 0 and the announcement is taken back."""
    with started(tmp_path, "up", "--port", "0", "--workers", "0", "--json") as process:
        service = json.loads(first_line(process))
        assert service["pid"] == process.pid
        assert announced_url(tmp_path) == service["url"]
        with ApiClient(service["url"]) as client:
            assert client.health().status == "ok"
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert err.endswith("stopping\nstopped\n")
    assert "Traceback" not in err
    assert announced_url(tmp_path) is None


def test_second_up_says_where_the_first_is(relay: Relay, tmp_path: Path) -> None:
    """Also as JSON."""
    state = tmp_path / "state"
    with started(state, "up", "--port", "0", "--workers", "0") as process:
        url = address_in(first_line(process))
        # A process of its own: `up` sets up logging for the whole process.
        with started(state, "up", "--json") as second:
            out, err = second.communicate(timeout=60)
        assert relay("run", "list").err == "no runs match\n"
    refused = json.loads(out)
    assert (second.returncode, refused["code"], err) == (1, "already_running", "")
    assert str(process.pid) in refused["message"]
    assert url in refused["hint"]


def test_serve_is_the_web_part_alone(tmp_path: Path) -> None:
    """It says where it is, announces nothing and ends on SIGTERM with 0."""
    with started(tmp_path, "serve", "--port", "0") as process:
        url = address_in(first_line(process))
        with ApiClient(url) as client:
            assert client.health().status == "ok"
        assert announced_url(tmp_path) is None
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err


def test_worker_without_a_token_says_where_it_is(relay: Relay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exit code 4 and nothing is started."""
    monkeypatch.setenv("RELAY_WORKER_TOKEN_FILE", str(tmp_path / "absent"))
    ended = relay("worker")
    assert ended.code == 4
    assert "RELAY_WORKER_TOKEN_FILE" in ended.err


def test_tokens_are_shown_by_place_and_revealed_on_demand(relay: Relay, tmp_path: Path) -> None:
    """Without --reveal no value is on the screen."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "worker-token").write_text("geheim-geheim-geheim\n")
    shown = relay("token", "show")
    assert "geheim" not in shown.out
    assert f"worker_token\t{tmp_path}/state/worker-token\n" in shown.out
    assert "operator_token\tRELAY_OPERATOR_TOKEN\n" in shown.out
    assert "webhook-secret (not made yet)" in shown.out
    assert "geheim-geheim-geheim" in relay("token", "show", "--reveal").out
    tokens = relay("token", "show", "--json").json
    assert isinstance(tokens, list)
    assert all(set(token) == {"name", "source", "present"} for token in tokens)
