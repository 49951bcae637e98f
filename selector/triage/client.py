"""A model behind the OpenAI-compatible interface, with and without tools.

Owns the wire format alone. Interface: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from selector.triage.conversation import (
    LlmError,
    Reply,
    Request,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    Usage,
)
from selector.triage.posting import Poster
from selector.triage.posting_client import PostingClient
from selector.triage.untrusted import TEXT_CAP, arguments_of, clean_text, tokens

_CHAT_PATH = "/chat/completions"


class OpenAiClient(PostingClient):
    """A client for `POST {base_url}/chat/completions`. `timeout_s` bounds each wait and the answer as a whole."""

    def __init__(
        self, base_url: str, model: str, api_key: str, timeout_s: float, transport: httpx.BaseTransport | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        super().__init__(Poster(base_url.rstrip("/") + _CHAT_PATH, headers, timeout_s, transport), model, timeout_s)

    def _forms(self, request: Request) -> Iterator[dict[str, Any]]:
        """The request with a forced format of the answer, where an answer is all that may come; then without; then as
        models that reason want it, which know another bound and no temperature."""
        plain: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(turn) for turn in request.turns],
            "temperature": 0,
        }
        if request.answer_tokens:
            plain["max_tokens"] = request.answer_tokens
        if request.tools:
            plain["tools"] = [_tool(spec) for spec in request.tools]
            plain["tool_choice"] = "auto" if request.may_call else "none"
        if not (request.tools and request.may_call):
            schema = {"name": "triage", "strict": True, "schema": dict(request.schema)}
            yield {**plain, "response_format": {"type": "json_schema", "json_schema": schema}}
        yield plain
        del plain["temperature"]
        if request.answer_tokens:
            plain["max_completion_tokens"] = plain.pop("max_tokens")
        yield plain

    def _reply(self, document: Mapping[str, Any]) -> Reply:
        return _read_reply(document)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _message(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, ToolResult):
        return {"role": "tool", "tool_call_id": turn.call, "content": turn.text}
    message: dict[str, Any] = {"role": turn.role, "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    return message


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments or {})}
    return {"id": call.id, "type": "function", "function": function}


def _read_reply(document: Mapping[str, Any]) -> Reply:
    """The first choice. A cut-off answer is an error, because half of a JSON text may still be JSON."""
    try:
        choice = document["choices"][0]
        message = choice["message"]
        content = clean_text(message.get("content"))
        asked = message.get("tool_calls") or ()
        finished = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise LlmError("model answer has no message") from error
    if finished == "length":
        raise LlmError("model answer cut off")
    calls = tuple(_read_call(entry, number) for number, entry in enumerate(asked)) if isinstance(asked, list) else ()
    if content is None and not calls:
        raise LlmError("model answer has no text")
    usage = document.get("usage")
    counted = Usage(tokens(usage, "prompt_tokens"), tokens(usage, "completion_tokens"))
    return Reply(content or "", calls, counted)


def _read_call(entry: object, number: int) -> ToolCall:
    entry = entry if isinstance(entry, dict) else {}
    function = entry.get("function")
    function = function if isinstance(function, dict) else {}
    short_id, name = entry.get("id"), function.get("name")
    return ToolCall(
        (clean_text(short_id) or f"call-{number}")[:TEXT_CAP],
        (clean_text(name) or "")[:TEXT_CAP],
        arguments_of(function.get("arguments")),
    )
