"""The command line asks the configured model itself, in its provider's interface, and can play a transcript back."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from relay.cli.model import budget_of, configured_model
from relay.failures import Failure
from relay.settings import RelaySettings
from selector.triage import Budget
from selector.triage.conversation import Reply, Request, Said
from tests.selector.triage.model_server import ModelServer, Says

REQUEST = Request((Said("user", "question"),), (), {}, 100, 10.0)


def settings(**llm: object) -> RelaySettings:
    return RelaySettings.model_validate({f"llm_{name}": value for name, value in llm.items()})


def ask(**llm: object) -> Reply:
    with configured_model(settings(**llm)) as model:
        assert model is not None
        return model.converse(REQUEST)


@pytest.mark.parametrize(("provider", "header"), [("openai", "authorization"), ("anthropic", "x-api-key")])
def test_each_provider_is_asked_in_its_interface(provider: str, header: str) -> None:
    server = ModelServer(lambda _: Says("the answer"))
    with server.serving() as url:
        assert ask(provider=provider, base_url=url, model="m", api_key="a-key").text == "the answer"
    assert "a-key" in server.headers[0][header]


def test_a_transcript_is_written_and_played_back(tmp_path: Path) -> None:
    """For its owner only, and without a server the second time."""
    file = tmp_path / "transcript.jsonl"
    with ModelServer(lambda _: Says("the answer")).serving() as url:
        ask(base_url=url, model="m", transcript=file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ask(provider="recorded", transcript=file).text == "the answer"


def test_a_transcript_that_is_none_is_said(tmp_path: Path) -> None:
    file = tmp_path / "transcript.jsonl"
    with pytest.raises(Failure, match=r"transcript\.jsonl cannot be played back"):
        ask(provider="recorded", transcript=file)
    file.write_text("nonsense\n")
    with pytest.raises(Failure, match="line 1 is no line of a transcript"):
        ask(provider="recorded", transcript=file)


def test_a_transcript_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with ModelServer(lambda _: Says("the answer")).serving() as url, pytest.raises(Failure, match="cannot be written"):
        ask(base_url=url, model="m", transcript=tmp_path / "absent" / "t.jsonl")


def test_no_model_is_none() -> None:
    with configured_model(settings()) as model:
        assert model is None


def test_the_settings_have_the_budget_of_the_selector() -> None:
    assert budget_of(settings()) == Budget()
    assert budget_of(settings(calls=2, price_in=1.5, money=0.5)).price_in == 1.5


@pytest.mark.parametrize("wrong", [{"calls": 9}, {"rounds": 4}, {"provider": "other"}, {"provider": "recorded"}])
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        settings(**wrong)
