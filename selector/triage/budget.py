"""What one consultation of a model may cost, and the account of what it has cost.

Enforced on our side: a turn that could go over is not asked for, whatever the model or its server says about itself.
The clock is handed in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from selector.triage.conversation import LlmError, Reply, Said, ToolResult, ToolSpec, Turn, Usage

#: Characters of a token at least: English and code have 3 to 4, so that a prompt is rather judged too long.
_CHARACTERS = 3
#: A server that reports more tokens than this for one turn is not believed.
_ABSURD = 10_000_000


class BudgetError(LlmError):
    """The next turn could cost more than is left."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one consultation. `calls` are tool calls and `rounds` turns that may ask for them; `tokens` counts both
    directions over all turns, `answer_tokens` bounds one answer; `wall_s` is in seconds. Money is in US dollars:
    `price_in` and `price_out` per million tokens, where 0 means that tokens are free and `money` bounds nothing."""

    calls: int = 8
    rounds: int = 3
    tokens: int = 200_000
    answer_tokens: int = 8_000
    wall_s: float = 120.0
    money: float = 0.05
    price_in: float = 0.0
    price_out: float = 0.0

    def cost(self, usage: Usage) -> float:
        """Dollars."""
        return (usage.input * self.price_in + usage.output * self.price_out) / 1_000_000


@dataclass
class Account:
    """What has been spent of a budget. `clock` gives seconds that never go back."""

    budget: Budget
    clock: Callable[[], float]
    calls: int = 0
    rounds: int = 0
    turns: int = 0
    usage: Usage = field(default=Usage())
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def calls_left(self) -> int:
        """0 too once every round was used."""
        return max(0, self.budget.calls - self.calls) if self.rounds < self.budget.rounds else 0

    @property
    def seconds_left(self) -> float:
        return self.budget.wall_s - (self.clock() - self.started)

    @property
    def money(self) -> float:
        """Dollars spent."""
        return self.budget.cost(self.usage)

    def admit(self, prompt_tokens: int) -> int:
        """How long the answer to a prompt may be, in tokens. Raises `BudgetError` when there is no room for one."""
        if self.seconds_left <= 0:
            raise BudgetError("time budget of the model spent")
        room = self.budget.tokens - self.usage.input - self.usage.output - prompt_tokens
        answer = min(self.budget.answer_tokens, room)
        if answer <= 0:
            raise BudgetError("token budget of the model spent")
        worst = self.money + self.budget.cost(Usage(prompt_tokens, answer))
        if worst > self.budget.money:
            raise BudgetError("money budget of the model spent")
        return answer

    def charge(self, prompt_tokens: int, reply: Reply) -> None:
        """Book a turn: what the server counted, or our estimate where that is higher."""
        counted = reply.usage if max(reply.usage.input, reply.usage.output) < _ABSURD else Usage(_ABSURD, _ABSURD)
        answer = estimate(iter((Said("assistant", reply.text, reply.calls),)))
        self.turns += 1
        self.usage = Usage(
            self.usage.input + max(counted.input, prompt_tokens), self.usage.output + max(counted.output, answer)
        )


def estimate(turns: Iterator[Turn], tools: tuple[ToolSpec, ...] = ()) -> int:
    """Tokens of a prompt, at a guess that is rather too high for text in English and code."""
    size = sum(len(tool.name) + len(tool.description) + len(json.dumps(dict(tool.parameters))) for tool in tools)
    for turn in turns:
        size += len(turn.text) + 16
        if not isinstance(turn, ToolResult):
            size += sum(len(call.name) + len(json.dumps(call.arguments)) + 16 for call in turn.calls)
    return size // _CHARACTERS + 1
