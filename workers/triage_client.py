"""The model that a worker asks in stage 3: through the relay, or played back from a transcript.

Owns the choice of the client by the relay's settings, and the transcript file of this machine. No key is here: the
relay adds it. Trouble with the file costs the model or the record of it, never the selection.
"""

from __future__ import annotations

import os
from pathlib import Path

import structlog

from relay.contract import TriageSettings
from selector.triage import AgentClient, AnthropicClient, OpenAiClient, RecordedClient, RecordingClient, TranscriptError

_log = structlog.get_logger(__name__)


def triage_client(triage: TriageSettings, relay_url: str, token: str, transcript: Path | None) -> AgentClient:
    """The client for the order of a relay. Where a `transcript` is given, every turn is appended to it."""
    if triage.provider == "recorded":
        return _recorded(transcript)
    base_url = f"{relay_url}/api/v1/worker/triage"
    client: AgentClient
    if triage.provider == "anthropic":
        client = AnthropicClient(base_url, triage.model, token, triage.timeout_s, through_relay=True)
    else:
        client = OpenAiClient(base_url, triage.model, token, triage.timeout_s)
    if transcript is None:
        return client
    return RecordingClient(client, triage.model, lambda line: _append(transcript, line))


def _recorded(transcript: Path | None) -> RecordedClient:
    """What can be played back; nothing, which the notes of the selection will say, when the file cannot be read."""
    if transcript is None:
        _log.warning("transcript_missing", hint="set RELAY_LLM_TRANSCRIPT to the file to play back")
        return RecordedClient.of(())
    try:
        return RecordedClient.of(transcript.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError, TranscriptError) as error:
        _log.warning("transcript_not_readable", file=str(transcript), fault=str(error))
        return RecordedClient.of(())


def _append(transcript: Path, line: str) -> None:
    """One more line. The file holds text of changes, so it is for its owner only."""
    try:
        descriptor = os.open(transcript, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        _log.warning("transcript_not_written", file=str(transcript), fault=error.strerror)
