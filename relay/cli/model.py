"""The model of stage 3 for the command line: the configured one, asked without a relay in between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relay.failures import Failure
from relay.settings import RelaySettings
from selector.triage import (
    AgentClient,
    AnthropicClient,
    Budget,
    OpenAiClient,
    RecordedClient,
    RecordingClient,
    TranscriptError,
)


def budget_of(settings: RelaySettings) -> Budget:
    """What one consultation may cost."""
    return Budget(
        calls=settings.llm_calls,
        rounds=settings.llm_rounds,
        tokens=settings.llm_tokens,
        answer_tokens=settings.llm_answer_tokens,
        wall_s=settings.llm_wall_s,
        money=settings.llm_money,
        price_in=settings.llm_price_in,
        price_out=settings.llm_price_out,
    )


@contextmanager
def configured_model(settings: RelaySettings) -> Iterator[AgentClient | None]:
    """The client of the configured model, None without one. With RELAY_LLM_TRANSCRIPT every turn is appended to that
    file, or played back from it. Raises `Failure` when it cannot be used."""
    if not settings.llm_configured:
        yield None
        return
    if settings.llm_provider == "recorded":
        yield _recorded(settings.llm_transcript)
        return
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else ""
    provider = AnthropicClient if settings.llm_provider == "anthropic" else OpenAiClient
    client = provider(settings.llm_base_url, settings.llm_model, key, settings.llm_timeout_s)
    try:
        yield _recording(client, settings)
    finally:
        client.close()


def _recording(client: AgentClient, settings: RelaySettings) -> AgentClient:
    file = settings.llm_transcript
    if file is None:
        return client
    return RecordingClient(client, settings.llm_model, lambda line: _append(file, line))


def _recorded(transcript: Path | None) -> RecordedClient:
    if transcript is None:
        raise Failure("There is no transcript to play back.", "Set RELAY_LLM_TRANSCRIPT to its file.")
    try:
        return RecordedClient.of(transcript.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError, TranscriptError) as error:
        raise Failure(f"{transcript} cannot be played back: {error}", "Record it again.") from error


def _append(transcript: Path, line: str) -> None:
    """One more line. The file holds text of changes, so it is for its owner only."""
    try:
        descriptor = os.open(transcript, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise Failure(f"{transcript} cannot be written: {error.strerror}", "Change RELAY_LLM_TRANSCRIPT.") from error
