"""Transcripts of a model: written while it is asked, and played back without it.

One JSON line for each turn: the digest of what was asked, the tools' answers since the turn before, and what came
back. A question that was not recorded has no answer, so a changed prompt or tool cannot be played back by mistake.
Reading and writing of files is the caller's.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from selector.triage.conversation import (
    AgentClient,
    ChatMessage,
    LlmError,
    Reply,
    Request,
    ToolCall,
    ToolResult,
    ToolsRefusedError,
    Usage,
    as_turns,
)
from selector.triage.posting import ANSWER_CAP
from selector.triage.untrusted import arguments_of, tokens

VERSION = 1
#: Characters of a tool's answer that are kept for people; playing back takes the tool's own answer.
_SHOWN_CAP = 500
_ONE_SHOT_S = 600.0


class TranscriptError(ValueError):
    """A line is no line of a transcript; the message names it by number."""


def digest(request: Request) -> str:
    """SHA-256 of everything that can make an answer another one; limits of time and length are no part of it."""
    asked = {
        "turns": [asdict(turn) for turn in request.turns],
        "tools": [asdict(tool) for tool in request.tools],
        "schema": dict(request.schema),
        "may_call": request.may_call,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("ascii")).hexdigest()


@dataclass
class RecordingClient:
    """Asks `client`, and hands each turn to `write` as a line without its end."""

    client: AgentClient
    model: str
    write: Callable[[str], object]

    def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> str:
        return self.converse(Request(as_turns(messages), (), schema, 0, _ONE_SHOT_S)).text

    def converse(self, request: Request) -> Reply:
        try:
            reply = self.client.converse(request)
        except LlmError as error:
            kind = "tools" if isinstance(error, ToolsRefusedError) else "model"
            self._line(request, {"error": str(error)[:_SHOWN_CAP], "kind": kind})
            raise
        calls = [asdict(call) for call in reply.calls]
        self._line(request, {"text": reply.text[:ANSWER_CAP], "calls": calls, "usage": asdict(reply.usage)})
        return reply

    def _line(self, request: Request, outcome: Mapping[str, Any]) -> None:
        fresh = _results_since_last_answer(request)
        record = {"version": VERSION, "model": self.model[:200], "prompt": digest(request), "results": fresh, **outcome}
        self.write(json.dumps(record, sort_keys=True))


@dataclass
class RecordedClient:
    """Answers from a transcript. The same question asked again gets the next answer to it, and then the last one."""

    answers: Mapping[str, deque[Reply | LlmError]] = field(repr=False)

    @classmethod
    def of(cls, lines: Iterable[str]) -> RecordedClient:
        """The client for the lines of a transcript. Raises `TranscriptError`."""
        answers: dict[str, deque[Reply | LlmError]] = {}
        for number, line in enumerate(lines, start=1):
            if line.strip():
                prompt, outcome = _read(line, number)
                answers.setdefault(prompt, deque()).append(outcome)
        return cls(answers)

    def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> str:
        return self.converse(Request(as_turns(messages), (), schema, 0, _ONE_SHOT_S)).text

    def converse(self, request: Request) -> Reply:
        recorded = self.answers.get(digest(request))
        if not recorded:
            raise LlmError("no recorded answer to this question")
        outcome = recorded.popleft() if len(recorded) > 1 else recorded[0]
        if isinstance(outcome, LlmError):
            raise outcome
        return outcome


def _results_since_last_answer(request: Request) -> list[dict[str, str]]:
    fresh: list[dict[str, str]] = []
    for turn in reversed(request.turns):
        if not isinstance(turn, ToolResult):
            break
        fresh.insert(0, {"call": turn.call, "text": turn.text[:_SHOWN_CAP]})
    return fresh


def _read(line: str, number: int) -> tuple[str, Reply | LlmError]:
    try:
        record = json.loads(line)
        version = record["version"]
        prompt, outcome = str(record["prompt"]), _outcome(record)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TranscriptError(f"line {number} is no line of a transcript") from error
    if version != VERSION:
        raise TranscriptError(f"line {number} is of another version of transcripts")
    return prompt, outcome


def _outcome(record: Mapping[str, Any]) -> Reply | LlmError:
    if "error" in record:
        kind = ToolsRefusedError if record["kind"] == "tools" else LlmError
        return kind(str(record["error"])[:_SHOWN_CAP])
    calls = tuple(ToolCall(str(it["id"]), str(it["name"]), arguments_of(it["arguments"])) for it in record["calls"])
    counted = Usage(tokens(record["usage"], "input"), tokens(record["usage"], "output"))
    return Reply(str(record["text"])[:ANSWER_CAP], calls, counted)
