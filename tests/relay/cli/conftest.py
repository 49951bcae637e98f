"""A relay to talk to, and a command line to talk with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from relay.cli import run
from relay.context import RelayContext
from relay.settings import RelaySettings
from relay.views import Conclusion, RunState
from tests.conftest import OpenApp
from tests.relay.serving import serving as serving_app
from tests.relay.stand_in import TOKEN, StandIn, a_failure, a_run, events_of, serving


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> object:
        """Stdout as one JSON value; fails when anything else is there."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """Stdout as an error object."""
        value = json.loads(self.out)
        assert list(value) == ["code", "message", "hint", "request_id"]
        assert self.err == ""
        return {str(key): str(text) for key, text in value.items()}


Relay = Callable[..., Ended]


@pytest.fixture
def relay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Relay:
    """Runs one command line in this process, with an empty state folder and a known operator token."""
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", TOKEN)
    monkeypatch.setenv("RELAY_UPSTREAM_CLONE_URL", str(tmp_path / "nowhere"))  # doctor would ask GitHub
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def command(*arguments: str) -> Ended:
        code = run(arguments)
        captured = capsys.readouterr()
        return Ended(int(code), captured.out, captured.err)

    return command


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A relay with a red run 1, a running run 2 and a green run 3, named by RELAY_URL."""
    runs = {
        1: a_run(1, RunState.FINISHED, Conclusion.FAILURE),
        2: a_run(2, RunState.RUNNING),
        3: a_run(3, RunState.FINISHED, Conclusion.SUCCESS, title="Fix\x1b[2J typo\u202e"),
    }
    with serving(StandIn(runs, failures=[a_failure()], events=events_of(1, 2))) as state:
        monkeypatch.setenv("RELAY_URL", state.url)
        yield state


@pytest.fixture
def served(settings: RelaySettings, open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> Iterator[RelayContext]:
    """A real relay, named by RELAY_URL, whose operator token the command line has."""
    application = open_app(settings.model_copy(update={"operator_token": SecretStr(TOKEN)}))
    context = application.state.relay
    assert isinstance(context, RelayContext)
    with serving_app(application) as url:
        monkeypatch.setenv("RELAY_URL", url)
        yield context
