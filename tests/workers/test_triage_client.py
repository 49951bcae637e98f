"""A worker asks the relay's model in its provider's interface, with the worker's token and no other secret."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from relay.contract import TriageBudget, TriageSettings
from selector.triage import Budget
from selector.triage.conversation import LlmError, Reply, Request, Said
from tests.selector.triage.model_server import ModelServer, Says
from workers.triage_client import triage_client

REQUEST = Request((Said("user", "question"),), (), {}, 100, 10.0)


class Prefixed(ModelServer):
    """The relay's paths instead of a provider's."""

    def answer(self, path: str, body: dict[str, object]) -> tuple[int, dict[str, object]]:
        return super().answer(path.replace("/api/v1/worker/triage", ""), body)


def order(provider: str) -> TriageSettings:
    return TriageSettings.model_validate({"model": "m", "timeout_s": 10.0, "provider": provider})


def ask(provider: str, transcript: Path | None) -> tuple[Reply, dict[str, str]]:
    server = Prefixed(lambda _: Says("the answer"))
    with server.serving() as url:
        client = triage_client(order(provider), url, "worker-token", transcript)
        return client.converse(REQUEST), server.headers[0]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_relay_is_asked_with_the_workers_token(provider: str) -> None:
    reply, headers = ask(provider, None)
    assert reply.text == "the answer"
    assert headers["authorization"] == "Bearer worker-token"
    assert "x-api-key" not in headers


def test_what_was_written_is_played_back(tmp_path: Path) -> None:
    """And nobody else may read the file."""
    file = tmp_path / "transcript.jsonl"
    ask("openai", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert triage_client(order("recorded"), "http://127.0.0.1:9", "t", file).converse(REQUEST).text == "the answer"


def test_a_transcript_that_cannot_be_written_costs_only_the_record(tmp_path: Path) -> None:
    reply, _ = ask("openai", tmp_path / "absent" / "transcript.jsonl")
    assert reply.text == "the answer"


@pytest.mark.parametrize("content", [None, b"nonsense\n", b"\xff"])
def test_a_transcript_that_cannot_be_read_has_no_answers(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "transcript.jsonl"
    if content is not None:
        file.write_bytes(content)
    for transcript in (file, None):
        with pytest.raises(LlmError, match="no recorded answer"):
            triage_client(order("recorded"), "http://127.0.0.1:9", "t", transcript).converse(REQUEST)


def test_the_budget_of_an_order_is_that_of_the_selector() -> None:
    assert Budget(**TriageBudget().model_dump()) == Budget()
