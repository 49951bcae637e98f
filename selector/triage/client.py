"""Talking to a language model: one question, one JSON answer, over the OpenAI-compatible HTTP interface.

Owns time, size and error limits of the call. It neither knows what is asked nor trusts what is answered. The key is in
no message, error or `repr`. Interface: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypedDict

import httpx

#: Bytes of one answer; 120 verdicts with reasons have about 30 kB.
ANSWER_CAP = 256 * 1024
_CHAT_PATH = "/chat/completions"
#: What servers answer that do not know `response_format`.
_REFUSED_FORMAT = frozenset({400, 422})


class ChatMessage(TypedDict):
    """One message of a conversation; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


class LlmError(Exception):
    """No usable answer. The message is short, free of secrets and of the model's words: it becomes part of a rule."""


class LlmClient(Protocol):
    """The seam to a model."""

    def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> str:
        """The text of the answer, which should be JSON of `schema`. Raises `LlmError`."""


class OpenAiClient:
    """A client for `POST {base_url}/chat/completions`. `timeout_s` bounds each wait and the answer as a whole."""

    def __init__(
        self, base_url: str, model: str, api_key: str, timeout_s: float, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._url = base_url.rstrip("/") + _CHAT_PATH
        self._model = model
        self._timeout_s = timeout_s
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._http = httpx.Client(headers=headers, timeout=timeout_s, transport=transport)

    def __repr__(self) -> str:
        return f"OpenAiClient(url={self._url!r}, model={self._model!r})"

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

    def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> str:
        request: dict[str, Any] = {"model": self._model, "messages": list(messages), "temperature": 0}
        schema_format = {"name": "triage", "strict": True, "schema": dict(schema)}
        formatted = {**request, "response_format": {"type": "json_schema", "json_schema": schema_format}}
        deadline = time.monotonic() + self._timeout_s
        with _as_llm_errors():
            status, body = self._post(formatted, deadline)
            if status in _REFUSED_FORMAT:
                status, body = self._post(request, deadline)
        if status == httpx.codes.GATEWAY_TIMEOUT:  # something between us and the model waited in our place
            raise LlmError("model timed out")
        if status != httpx.codes.OK:
            raise LlmError(f"model answered HTTP {status}")
        return _content(body)

    def _post(self, body: Mapping[str, Any], deadline: float) -> tuple[int, bytes]:
        with self._http.stream("POST", self._url, json=body) as response:
            content = bytearray()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > ANSWER_CAP:
                    raise LlmError("model answer too long")
                if time.monotonic() > deadline:  # a server that drips resets the timeout of each wait
                    raise LlmError("model timed out")
            return response.status_code, bytes(content)


@contextmanager
def _as_llm_errors() -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException as error:
        raise LlmError("model timed out") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise LlmError("model not reachable") from error


def _content(body: bytes) -> str:
    """The text of the first choice. A cut-off answer is an error, because half of a JSON text may still be JSON."""
    try:
        choice = json.loads(body)["choices"][0]
        content = choice["message"]["content"]
        finished = choice.get("finish_reason")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise LlmError("model answer has no message") from error
    if finished == "length":
        raise LlmError("model answer cut off")
    if not isinstance(content, str):
        raise LlmError("model answer has no text")
    return content
