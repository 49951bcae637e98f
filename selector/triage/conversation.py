"""A conversation with a language model, in no provider's words: turns, tools, and what a turn cost.

Owns the values and the two seams: `LlmClient`, which answers one question, and `AgentClient`, which can also ask for
tools. Nothing here sends or trusts anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict, runtime_checkable


class ChatMessage(TypedDict):
    """One message of a one-shot question; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


class LlmError(Exception):
    """No usable answer. The message is short, free of secrets and of the model's words: it becomes part of a rule."""


class ToolsRefusedError(LlmError):
    """The server does not take a request with tools; the same question without them may work."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model asks for. `arguments` is untrusted, `None` when it was no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Said:
    """Text of one party; `role` is `system`, `user` or `assistant`. Only an assistant has `calls`."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a call."""

    call: str
    text: str


Turn = Said | ToolResult


@dataclass(frozen=True, slots=True)
class Request:
    """One turn asked of a model. With `tools` and not `may_call` the model knows the tools and has to answer now.
    `answer_tokens` bounds the answer, `timeout_s` (seconds) the wait; `schema` is that of the final answer."""

    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...]
    schema: Mapping[str, Any]
    answer_tokens: int
    timeout_s: float
    may_call: bool = True


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them, 0 where it does not say."""

    input: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of the model: it asks for tools, or `text` is its answer."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default=Usage())


class LlmClient(Protocol):
    """The seam to a model that answers questions."""

    def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> str:
        """The text of the answer, which should be JSON of `schema`. Raises `LlmError`."""


@runtime_checkable
class AgentClient(LlmClient, Protocol):
    """The seam to a model that can use tools."""

    def converse(self, request: Request) -> Reply:
        """The model's next turn. Raises `LlmError`, and `ToolsRefusedError` where the server knows no tools."""


def one_shot(turns: Sequence[Turn]) -> tuple[ChatMessage, ...]:
    """The turns as messages for a model without tools."""
    return tuple({"role": turn.role, "content": turn.text} for turn in turns if isinstance(turn, Said))


def as_turns(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Messages as turns."""
    return tuple(Said(message["role"], message["content"]) for message in messages)
