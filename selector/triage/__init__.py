"""Stage 3: what to do with the tests that may or may not be affected. A model is asked where there is one."""

from selector.triage.client import LlmClient, LlmError, OpenAiClient
from selector.triage.stage import triage

__all__ = ["LlmClient", "LlmError", "OpenAiClient", "triage"]
