"""Whatever a service refuses, and in whatever way: every command that asks one tells cause and next step, for people
and for programs, and ends with the code of the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay.cli.exits import ExitCode
from relay.cli.root import build
from tests.relay.cli.conftest import Relay
from tests.relay.cli.tree import commands
from tests.relay.refusing import REFUSALS
from tests.relay.stand_in import StandIn, closed_port

#: A whole line for each command that asks a service, as short as it may be.
LINES = {
    "status": "status",
    "run list": "run list",
    "run view": "run view 1",
    "run watch": "run watch 1",
    "run failures": "run failures 1",
    "run logs": "run logs 1",
    "run report": "run report 3 --junit -",
    "run rerun": "run rerun 1",
    "run cancel": "run cancel 2",
    "why": "why test_relu --change 1",
    "audit start": "audit start",
    "audit list": "audit list",
    "audit show": "audit show 1",
    "edge list": "edge list",
    "edge remove": "edge remove 1",
    "delivery list": "delivery list",
    "delivery show": "delivery show 1",
    "delivery replay": "delivery replay 1",
    "submit": "submit --event event.json",
    "manifest generate": "manifest generate --from-run 1",
    "manifest promote": "manifest promote --from-run 1 manifest.yaml",
    "token create": "token create robot",
    "token list": "token list",
    "token revoke": "token revoke 1",
}
#: Where no answer is an answer as well, or none is asked for; and `upgrade`, which asks after work of its own. Its
#: refusals are in a transcript.
_OTHERWISE = {"doctor", "upgrade", "worker"}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the lines name."""
    monkeypatch.chdir(tmp_path)
    payload = {"event_type": "pull_request", "delivery_id": "d", "payload": {"action": "opened"}}
    Path("event.json").write_text(json.dumps({"client_payload": payload}))
    entries = "files: [{path: '${TORCH_ROOT}/test/a.py', unlisted_test_mode: skip, tests: []}]"
    Path("manifest.yaml").write_text(f"test_suite_config:\n  {entries}\n")


def test_every_command_that_asks_a_service_is_here() -> None:
    """By its option --url."""
    leaves = [(" ".join(path), it) for path, it in commands(build()) if not getattr(it, "commands", None)]
    asking = {path for path, it in leaves if any("--url" in option.opts for option in it.params)}
    assert asking - set(LINES) == _OTHERWISE


@pytest.mark.parametrize("line", LINES.values())
def test_every_refusal_is_told(relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    for token, refusal in REFUSALS.items():
        monkeypatch.setenv("RELAY_OPERATOR_TOKEN", token)
        ended = relay(*line.split())
        assert (ended.code, ended.out) == (refusal.exits, ""), f"{token}: {ended}"
        error, hint, *more = ended.err.splitlines()
        assert error.startswith("error: ")
        assert hint.startswith("hint: ")
        assert refusal.next_step in hint
        assert more == []
        if refusal.error is not None and refusal.status != 404:  # the commands say themselves what there is none of
            assert error == f"error: {refusal.error.message}"


@pytest.mark.parametrize("line", LINES.values())
def test_programs_get_the_same(relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """With the request's number, which finds it in the service's log."""
    for token in ("refused-as-a-wrong-token", "refused-as-too-many", "refused-as-not-found"):
        refusal = REFUSALS[token]
        monkeypatch.setenv("RELAY_OPERATOR_TOKEN", token)
        ended = relay(*line.split(), "--json")
        assert ended.code == refusal.exits
        assert refusal.error is not None
        assert ended.error["code"] == refusal.error.code or refusal.status == 404
        assert ended.error["hint"]
        assert ended.error["request_id"] == "request-9"


@pytest.mark.parametrize("line", LINES.values())
def test_a_service_that_is_away(relay: Relay, service: StandIn, line: str) -> None:
    with closed_port() as url:
        ended = relay(*line.split(), "--url", url)
    assert (ended.code, ended.out) == (ExitCode.FAILED, "")
    assert ended.err.splitlines()[0].startswith(f"error: the relay at {url} does not answer")
    assert "hint: start one with `relay up`" in ended.err


@pytest.mark.parametrize("line", ["status", "run list", "run view 1", "run watch 1", "delivery list", "audit list"])
def test_no_token_at_all_where_reading_needs_one(
    relay: Relay, service: StandIn, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Reading works without a token, until a service wants one."""
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", "refused-as-a-wrong-token")
    assert "RELAY_OPERATOR_TOKEN" in relay(*line.split()).err
