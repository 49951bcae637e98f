"""A language model on loopback that speaks both wire formats, written from the providers' documentation.

A brain gets the conversation in no format's words and says what the model says. The server refuses what the real ones
refuse: unknown paths, calls without results, roles that do not take turns, a missing bound on the answer.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Heard:
    """What the model was asked. `results` are the answers to its calls so far, oldest first."""

    system: str
    question: str
    results: tuple[str, ...]
    tools: tuple[str, ...]
    may_call: bool
    answer_tokens: int


@dataclass(frozen=True)
class Says:
    """What the model says: tool calls as (name, arguments), or text."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    cut_off: bool = False


Brain = Callable[[Heard], Says]


@dataclass
class ModelServer:
    """`status` other than 200 is answered instead of the brain's words. `takes_tools` False refuses tools with 400."""

    brain: Brain
    status: int = 200
    takes_tools: bool = True
    heard: list[Heard] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The base URL, for both formats, while it serves."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            server.server_close()
            thread.join(timeout=30)

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and document."""
        formats = {"/v1/chat/completions": (_hear_openai, _say_openai), "/v1/messages": (_hear_anthropic, _say_claude)}
        if path not in formats:
            return 404, {}
        if self.status != 200:
            return self.status, {"error": "told to"}
        if body.get("tools") and not self.takes_tools:
            return 400, {"error": "no tools here"}
        hear, say = formats[path]
        try:
            heard = hear(body)
        except (AssertionError, KeyError, TypeError) as error:
            return 400, {"error": repr(error)}
        self.heard.append(heard)
        return 200, say(self.brain(heard), len(json.dumps(body)) // 4)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.bodies.append(body)
                model.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, document = model.answer(self.path, body)
                content = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _hear_openai(body: dict[str, Any]) -> Heard:
    messages = body["messages"]
    _check_results([call["id"] for message in messages for call in message.get("tool_calls", ())], messages)
    tools = tuple(tool["function"]["name"] for tool in body.get("tools", ()))
    return Heard(
        "\n".join(message["content"] for message in messages if message["role"] == "system"),
        "\n".join(message["content"] for message in messages if message["role"] == "user"),
        tuple(message["content"] for message in messages if message["role"] == "tool"),
        tools,
        bool(tools) and body["tool_choice"] == "auto",
        body.get("max_tokens", 0),
    )


def _check_results(asked: Sequence[str], messages: Sequence[dict[str, Any]]) -> None:
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == list(asked)


def _say_openai(says: Says, prompt_tokens: int) -> dict[str, Any]:
    calls = [
        {"id": f"x{number}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
        for number, (name, arguments) in enumerate(says.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": says.text or None}
    if calls:
        message["tool_calls"] = calls
    finished = "length" if says.cut_off else "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(says.text) // 4}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finished}], "usage": usage}


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _hear_anthropic(body: dict[str, Any]) -> Heard:
    assert body["max_tokens"] > 0
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
    blocks = [(message["role"], block) for message in messages for block in message["content"]]
    asked = [block["id"] for _, block in blocks if block["type"] == "tool_use"]
    given = [block["tool_use_id"] for role, block in blocks if role == "user" and block["type"] == "tool_result"]
    assert asked == given
    assert body.get("tools") or not asked
    tools = tuple(tool["name"] for tool in body.get("tools", ()))
    return Heard(
        body.get("system", ""),
        "\n".join(block["text"] for role, block in blocks if role == "user" and block["type"] == "text"),
        tuple(block["content"] for _, block in blocks if block["type"] == "tool_result"),
        tools,
        bool(tools) and body["tool_choice"]["type"] == "auto",
        body["max_tokens"],
    )


def _say_claude(says: Says, prompt_tokens: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": says.text}] if says.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        for number, (name, arguments) in enumerate(says.calls)
    ]
    stop = "max_tokens" if says.cut_off else "tool_use" if says.calls else "end_turn"
    usage = {"input_tokens": prompt_tokens, "output_tokens": len(says.text) // 4}
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage}
