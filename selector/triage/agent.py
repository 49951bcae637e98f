"""The loop around a model: it may look things up in a few rounds, and then has to answer.

Owns the order of turns and the enforcement of the budget. It judges no test: what comes out is the text of an answer
and how it came about. Text of a tool is data, and no part of it is an instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from selector.triage.budget import Account, BudgetError, estimate
from selector.triage.conversation import (
    AgentClient,
    LlmClient,
    LlmError,
    Reply,
    Request,
    Said,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolsRefusedError,
    Turn,
    one_shot,
)
from selector.triage.tools import RESULT_CAP, Tools
from selector.triage.untrusted import arguments_of, clean_text

_ANSWER_ECHO_CAP = 3_000
_REFUSED = "error: no more calls are allowed; answer now"

Read = TypeVar("Read")


class UnusableError(Exception):
    """Raised by the reader of an answer; the message is for the model, which may try once more."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call that was made, for the log. `id` can be cited as evidence."""

    id: str
    tool: str
    refused: bool


@dataclass
class Agent:
    """One consultation of a model within a budget. `calls` are those made so far."""

    client: LlmClient
    account: Account
    schema: Mapping[str, Any]
    tools: Tools | None = None
    calls: list[CallRecord] = field(default_factory=list)

    def ask(self, turns: tuple[Turn, ...], read: Callable[[str, frozenset[str]], Read]) -> Read:
        """The answer as `read` understands it, given its text and the ids of the calls made. An answer that `read`
        finds unusable (`UnusableError`) may be repaired once. Raises `LlmError` when there is none to be had."""
        offered = self.tools.specs if self.tools is not None and isinstance(self.client, AgentClient) else ()
        try:
            return self._talk(turns, offered, read)
        except ToolsRefusedError:
            return self._talk(turns, (), read)

    def _talk(
        self, turns: tuple[Turn, ...], specs: tuple[ToolSpec, ...], read: Callable[[str, frozenset[str]], Read]
    ) -> Read:
        problem = ""
        while True:
            may_call = bool(specs) and not problem and self.account.calls_left > 0
            reply = self._turn(turns, specs, may_call=may_call)
            if reply.calls and specs and may_call:
                turns = (*turns, *self._answered(reply))
                continue
            try:
                return read(reply.text, frozenset(call.id for call in self.calls if not call.refused))
            except UnusableError as error:
                if problem:
                    raise LlmError("model answered no usable JSON, twice") from error
                problem = str(error)
                turns = (*turns, *_correction(reply.text, problem))

    def _turn(self, turns: tuple[Turn, ...], specs: tuple[ToolSpec, ...], *, may_call: bool) -> Reply:
        prompt = estimate(iter(turns), specs)
        room = self.account.admit(prompt)
        wait = self.account.seconds_left
        request = Request(turns, specs, self.schema, room, wait, may_call)
        if isinstance(self.client, AgentClient):
            reply = self.client.converse(request)
        else:
            reply = Reply(self.client.complete(one_shot(turns), self.schema))
        self.account.charge(prompt, reply)
        return reply

    def _answered(self, reply: Reply) -> tuple[Turn, ...]:
        """The model's turn under our own call ids, and an answer to each call: refused ones are told so, because a
        call without a result is an error in every wire format."""
        self.account.rounds += 1
        allowed = self.account.budget.calls - self.account.calls
        asked = reply.calls[: max(1, allowed) + 1]  # one refusal tells the model as much as a thousand
        renamed: list[ToolCall] = []
        results: list[ToolResult] = []
        for number, call in enumerate(asked):
            named = _named(call, f"call{len(self.calls) + 1:05d}")
            renamed.append(named)
            results.append(ToolResult(named.id, self._result(named, refused=number >= allowed)))
        return Said("assistant", _echo(reply.text), tuple(renamed)), *results

    def _result(self, call: ToolCall, *, refused: bool) -> str:
        self.calls.append(CallRecord(call.id, call.name, refused))
        if refused or self.tools is None:
            return _REFUSED
        if self.account.seconds_left <= 0:
            raise BudgetError("time budget of the model spent")
        self.account.calls += 1
        return self.tools.use(call)[:RESULT_CAP]


def _named(call: ToolCall, short_id: str) -> ToolCall:
    """The call as it goes back to the model: our id, and no more of its text than it needs to know what it asked."""
    return replace(call, id=short_id, name=_tool_name(call.name), arguments=arguments_of(call.arguments))


def _echo(text: str) -> str:
    return clean_text(text[:_ANSWER_ECHO_CAP]) or ""


def _tool_name(name: str) -> str:
    """Servers refuse a history with a name that their pattern does not fit."""
    return name if name.isascii() and name.isidentifier() and len(name) <= 64 else "unknown"


def _correction(answer: str, problem: str) -> tuple[Turn, ...]:
    wrong = f"That answer cannot be used: {problem}. Answer again with the JSON object alone."
    return Said("assistant", _echo(answer) or "(no text)"), Said("user", wrong)
