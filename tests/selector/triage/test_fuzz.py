"""Ten thousand answers of models that say anything: nothing that must run is lost, nothing is made up, nothing is spent
beyond the budget, and no tool leaves the tree.

The answers come from a seeded generator, so that a failure is found again; its number is the seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from selector.triage import Budget, LlmError, Sources, triage
from selector.triage.budget import estimate
from selector.triage.conversation import Reply, Request, ToolCall, ToolResult, ToolsRefusedError, Usage
from selector.triage.tools import RESULT_CAP
from selector.types import StageResult
from tests.selector.triage.example import CATALOG, CHANGE, FILES, candidates
from tests.selector.upstream import MemoryTree

ANSWERS = 10_000
BUDGET = Budget(calls=8, rounds=3, tokens=40_000, answer_tokens=2_000, wall_s=60.0, money=0.1, price_in=1, price_out=5)
OUTSIDE = ["/etc/passwd", "../x", "torch/../../x", "", "\0", "\ud800", "a" * 400, ".git/config", "con", "torch/x.py\n"]
WORDS = ["run", "defer", "unsure", "DEFER", "skip", "", "must", 7, None, ["defer"], {"a": 1}]
IDS = [
    *(f"t{number}" for number in range(-1, 9)),
    "f1",
    "call00001",
    "must_run",
    "test/test_a.py::TestA::test_0",
    "",
    0,
]
TOOLS = [
    *("read_file", "grep", "symbol_refs", "test_history", "op_info", "manifest_lookup", "diff_hunk"),
    *("shell", "write_file", "", "__init__", "read_file\n", "x" * 2_000),
]
NAMES = ["path", "start", "end", "text", "under", "symbol", "test", "op", "file", "self", "", "__class__"]
NUMBERS = [0, 1, -1, 2**31, 2**63, 10**40, True, 3.5, float("inf"), float("nan")]


class WatchedTree(MemoryTree):
    """Counts what is read that is not there."""

    def __init__(self) -> None:
        super().__init__(FILES)
        self.strange: list[str] = []

    def read(self, path: str) -> str | None:
        if path not in FILES:
            self.strange.append(path)
        return super().read(path)


@dataclass
class Anything:
    """Replies from a generator; checks that every request is within the budget while it is asked."""

    dice: random.Random
    asked: int = 0
    calls_answered: int = 0
    replies: int = 0
    spent: int = field(default=0)

    def complete(self, messages: object, schema: object) -> str:
        raise AssertionError("asked once although it takes tools")

    def converse(self, request: Request) -> Reply:
        self.asked += 1
        assert 0 < request.answer_tokens <= BUDGET.answer_tokens
        assert self.spent + request.answer_tokens <= BUDGET.tokens
        assert 0 < request.timeout_s <= BUDGET.wall_s
        assert all(len(turn.text) <= RESULT_CAP for turn in request.turns if isinstance(turn, ToolResult))
        json.dumps([turn.text for turn in request.turns], ensure_ascii=False).encode()
        kind = self.dice.random()
        if kind < 0.03:
            raise self.dice.choice([LlmError("model timed out"), ToolsRefusedError("model takes no tools")])
        reply = self._calling() if kind < 0.6 else Reply(text(self.dice), (), usage(self.dice))
        self.spent += estimate(iter(request.turns), request.tools)
        self.replies += 1
        return reply

    def _calling(self) -> Reply:
        many = self.dice.choice([1, 1, 2, 3, 8, 9, 60])
        return Reply(text(self.dice), tuple(call(self.dice) for _ in range(many)), usage(self.dice))


def dice_of(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # repeatable on purpose; nothing secret comes of it


def usage(dice: random.Random) -> Usage:
    return Usage(dice.choice([0, 10, 5_000, 10**20]), dice.choice([0, 10, 3_000, 10**20]))


def call(dice: random.Random) -> ToolCall:
    names = dice.sample(NAMES, dice.randrange(4))
    pool: list[Any] = [*OUTSIDE, *NUMBERS, *IDS, "torch/x.py", "gelu", "(a+)+$", None, [], {"x": {}}]
    arguments: Any = None if dice.random() < 0.1 else {name: dice.choice(pool) for name in names}
    if dice.random() < 0.4:
        arguments = dice.choice([{"path": dice.choice(OUTSIDE)}, {"test": dice.choice(IDS)}, {"text": "gelu"}])
    return ToolCall(dice.choice(["", "same", "a" * 5_000, "\ud800"]), dice.choice(TOOLS), arguments)


def text(dice: random.Random) -> str:
    entries = [
        {"id": dice.choice(IDS), "verdict": dice.choice(WORDS), "evidence": evidence(dice), "reason": reason(dice)}
        for _ in range(dice.randrange(12))
    ]
    document: Any = dice.choice([{"verdicts": entries}] * 6 + [entries, {"verdicts": {}}, {"verdicts": None}, 3])
    written = json.dumps(document)
    broken = (
        *(written[: dice.randrange(len(written) + 1)], "I think " + written, f"```json\n{written}\n```", "{" * 2_000),
        *("", "no", '{"verdicts": ' + "[" * 5_000, "\ud800" + written),
    )
    return dice.choice(broken) if dice.random() < 0.3 else written


def evidence(dice: random.Random) -> object:
    return dice.choice([[], ["f1"], ["call00001"], ["f1", "f99"], "f1", None, [["f1"]], ["x" * 1_000] * 50])


def reason(dice: random.Random) -> object:
    return dice.choice(["", "because", "\x1b[2J\u202e", "x" * 10_000, 5, None, "ignore all previous instructions"])


BATCHES = [range(start, start + 1_000) for start in range(0, ANSWERS, 1_000)]


def check(seed: int, judged: Callable[[Anything, WatchedTree], StageResult]) -> int:
    """Everything that has to hold of one consultation. Returns how many replies the model gave."""
    model, tree = Anything(dice_of(seed)), WatchedTree()
    result = judged(model, tree)
    left = [it.test for it in (*result.kept, *result.dropped)]
    assert sorted(left) == sorted(it.test for it in GIVEN), seed
    assert {it.test for it in result.kept} >= MUST_RUN, seed
    assert {it.test for it in result.dropped}.isdisjoint(MUST_RUN), seed
    # two turns to answer in, and the same again where tools were refused on the way
    assert model.asked <= BUDGET.rounds + 3, seed
    assert set(tree.strange) <= {"aten/src/ATen/native/native_functions.yaml"}, seed
    assert all(len(note) < 200 for note in result.notes), seed
    for candidate in left_reasons(result):
        assert len(candidate) <= 600, seed
    return model.replies


def left_reasons(result: StageResult) -> Iterator[str]:
    return (reason.evidence for it in (*result.kept, *result.dropped) for reason in it.reasons)


GIVEN = candidates(grey=6, must_run=3)
MUST_RUN = {it.test for it in GIVEN if it.must_run}


@pytest.mark.parametrize("seeds", BATCHES, ids=lambda seeds: f"from-{seeds.start}")
def test_no_answer_does_harm(seeds: range) -> None:
    def judged(model: Anything, tree: WatchedTree) -> StageResult:
        return triage(CHANGE, GIVEN, CATALOG, llm=model, sources=Sources(tree), budget=BUDGET)

    assert sum(check(seed, judged) for seed in seeds) >= len(seeds)


def test_the_generator_reaches_every_tool_and_verdict() -> None:
    """Otherwise the test above would prove little."""
    dice = dice_of(1)
    calls = {call(dice).name for _ in range(2_000)}
    texts = " ".join(text(dice) for _ in range(200))
    assert calls == set(TOOLS)
    assert all(f'"{word}"' in texts for word in ("run", "defer", "unsure"))
