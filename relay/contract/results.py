"""What a test shard reports: attempts, results, and how a shard ended."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from relay.contract.texts import (
    MESSAGE_CAP,
    OPERATORS_CAP,
    WHOLE,
    Flag,
    Message,
    Number,
    OperatorName,
    TestIdText,
)


class Tree(StrEnum):
    """Which side of the change a test attempt ran on."""

    HEAD = "head"
    BASE = "base"


class Observation(StrEnum):
    """What was seen of one attempt at one test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    MISSING = "missing"


class Attempt(Message):
    """One try at one test. `detail` is the failing assertion, skip reason or last words; untrusted and capped.
    `reused`: not run now, but known from an earlier run of the very same base (tree, torch, device profile)."""

    tree: Tree
    number: Annotated[int, Field(ge=1, le=1_000_000), WHOLE]
    observation: Observation
    duration_s: Number = Field(ge=0, allow_inf_nan=False)
    detail: str = Field(default="", max_length=MESSAGE_CAP)
    reused: Flag = False


class TestResult(Message):
    """All attempts at one planned test, sent once, when the worker is done with it. `operators` are those that the
    device saw during the last attempt on head (`aten::add.Tensor`), a claim of the process that ran the test."""

    __test__ = False
    id: TestIdText
    attempts: tuple[Attempt, ...] = Field(min_length=1)
    operators: tuple[OperatorName, ...] = Field(default=(), max_length=OPERATORS_CAP)


class ResultsPosted(Message):
    """Body of `POST .../shards/{id}/results`. `sequence` counts from 1 in a lease; repeats are answered alike."""

    lease_id: str
    sequence: Annotated[int, Field(ge=1, le=1_000_000), WHOLE]
    results: tuple[TestResult, ...]


class ShardOutcome(StrEnum):
    """How a worker ends a lease. `failed` makes the shard due again, up to the attempt limit; `stopped` does, too, and
    does not count: somebody told the worker to go."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class ShardFinished(Message):
    """Body of `POST .../shards/{id}/finish`. `error` says what went wrong on our side, for `failed` and `stopped`."""

    lease_id: str
    outcome: ShardOutcome
    error: str = Field(default="", max_length=MESSAGE_CAP)


class Accepted(Message):
    """The worker API's plain yes."""

    ok: Flag = True
