"""A model behind Anthropic's messages interface, with and without tools.

Owns the wire format alone: the system text stands beside the messages, tool calls and their results are blocks inside
them, and a bound on the answer is required. Interface: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from selector.triage.conversation import (
    LlmError,
    Reply,
    Request,
    Said,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    Usage,
)
from selector.triage.posting import Poster
from selector.triage.posting_client import PostingClient
from selector.triage.untrusted import TEXT_CAP, arguments_of, clean_text, tokens

API_VERSION = "2023-06-01"
_PATH = "/messages"
_ONE_SHOT_TOKENS = 8_000


class AnthropicClient(PostingClient):
    """A client for `POST {base_url}/messages`. `timeout_s` bounds each wait and the answer as a whole.

    `through_relay`: the server is the relay's proxy, `secret` the worker's token for it; else it is the API key.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        secret: str,
        timeout_s: float,
        *,
        through_relay: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        shown = {"Authorization": f"Bearer {secret}"} if through_relay else {"x-api-key": secret}
        headers = {"anthropic-version": API_VERSION, **(shown if secret else {})}
        super().__init__(Poster(base_url.rstrip("/") + _PATH, headers, timeout_s, transport), model, timeout_s)

    def _forms(self, request: Request) -> Iterator[dict[str, Any]]:
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.answer_tokens or _ONE_SHOT_TOKENS,
            "messages": _messages(request.turns),
        }
        system = "\n".join(turn.text for turn in request.turns if isinstance(turn, Said) and turn.role == "system")
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
            body["tool_choice"] = {"type": "auto" if request.may_call else "none"}
        yield body

    def _reply(self, document: Mapping[str, Any]) -> Reply:
        return _read_reply(document)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": dict(spec.parameters)}


def _messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Roles have to take turns, so blocks of one party in a row become one message."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if isinstance(turn, Said) and turn.role == "system":
            continue
        role = turn.role if isinstance(turn, Said) else "user"
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].extend(_blocks(turn))
    return messages


def _blocks(turn: Turn) -> Iterator[dict[str, Any]]:
    if isinstance(turn, ToolResult):
        yield {"type": "tool_result", "tool_use_id": turn.call, "content": turn.text}
        return
    if turn.text:  # an empty text block is refused
        yield {"type": "text", "text": turn.text}
    for call in turn.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments or {})}


def _read_reply(document: Mapping[str, Any]) -> Reply:
    content = document.get("content")
    if not isinstance(content, list):
        raise LlmError("model answer has no message")
    if document.get("stop_reason") == "max_tokens":
        raise LlmError("model answer cut off")
    blocks = [block for block in content if isinstance(block, dict)]
    texts = (clean_text(block.get("text")) for block in blocks if block.get("type") == "text")
    said = [text for text in texts if text is not None]
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    calls = tuple(_read_call(block, number) for number, block in enumerate(uses))
    if not said and not calls:
        raise LlmError("model answer has no text")
    usage = document.get("usage")
    return Reply("".join(said), calls, Usage(tokens(usage, "input_tokens"), tokens(usage, "output_tokens")))


def _read_call(block: Mapping[str, Any], number: int) -> ToolCall:
    short_id, name = block.get("id"), block.get("name")
    return ToolCall(
        (clean_text(short_id) or f"call-{number}")[:TEXT_CAP],
        (clean_text(name) or "")[:TEXT_CAP],
        arguments_of(block.get("input")),
    )
