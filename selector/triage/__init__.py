"""Stage 3: what to do with the tests that may or may not be affected. A model is asked where there is one."""

from selector.triage.anthropic import AnthropicClient
from selector.triage.budget import Budget
from selector.triage.client import OpenAiClient
from selector.triage.consulting import Sources
from selector.triage.conversation import AgentClient, LlmClient, LlmError
from selector.triage.stage import triage
from selector.triage.transcript import RecordedClient, RecordingClient, TranscriptError

__all__ = [
    "AgentClient",
    "AnthropicClient",
    "Budget",
    "LlmClient",
    "LlmError",
    "OpenAiClient",
    "RecordedClient",
    "RecordingClient",
    "Sources",
    "TranscriptError",
    "triage",
]
