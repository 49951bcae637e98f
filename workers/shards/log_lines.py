"""What happens to a shard as lines of its log. Pure: texts in, lines out, within the contract's caps.

A line has no line feed and nothing that a terminal would obey; of a long text the beginning and the end are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relay.contract import LOG_TEXT_CAP, LogKind, Observation, Tree
from workers.runner.types import Collection, TestOutcome
from workers.shards.report import capped

#: Of what belongs to one test: the beginning says what it is, the end how it went out.
BLOCK_LINES = 200
_INDENT = "    "
_REASON_CAP = 300
#: Colours and cursor movements (ECMA-48 5.4), titles and links (OSC), and whatever else is not text.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Line = tuple[LogKind, str]


def of_step(text: str) -> Iterator[Line]:
    yield LogKind.STEP, _one(text)


def of_outcome(outcome: TestOutcome, tree: Tree, number: int, *, expected: bool) -> Iterator[Line]:
    """A test's line; below it what it said and printed, when it did not pass and should have."""
    where = "" if tree is Tree.HEAD else " on base"
    again = f" (try {number})" if number > 1 else ""
    known = ", as expected" if expected and outcome.observation is Observation.FAILED else ""
    name = f"{outcome.observation.value:<9} {outcome.duration_s:8.3f} s  {outcome.id}{where}{again}{known}"
    failed = tree is Tree.HEAD and not expected
    kind = LogKind.FAILURE if failed else LogKind.TEST
    if outcome.observation is Observation.PASSED:
        yield kind, _one(name)
    elif failed or outcome.observation in {Observation.CRASHED, Observation.TIMED_OUT}:
        yield kind, _one(name)
        yield from _block(outcome.detail)
        if outcome.output.strip():
            yield LogKind.OUTPUT, f"{_INDENT}it printed:"
            yield from _block(outcome.output)
    else:
        reason = " ".join(outcome.detail.split())
        yield kind, _one(f"{name}: {capped(reason, _REASON_CAP)}" if reason else name)


def of_collection(file: str, found: Collection, tree: Tree) -> Iterator[Line]:
    where = "" if tree is Tree.HEAD else " on base"
    count = "1 test" if len(found.tests) == 1 else f"{len(found.tests)} tests"
    if not found.error:
        yield LogKind.TEST, _one(f"collected {count} of {file}{where}")
        return
    kind = LogKind.FAILURE if tree is Tree.HEAD and not found.tests else LogKind.TEST
    yield kind, _one(f"not collected, or only in part ({count}): {file}{where}")
    yield from _block(found.error)


def _block(text: str) -> Iterator[Line]:
    lines = text.strip("\n").split("\n")
    left_out = len(lines) - BLOCK_LINES
    half = BLOCK_LINES // 2
    for line in lines[:half] if left_out > 0 else lines:
        yield LogKind.OUTPUT, _one(_INDENT + line)
    if left_out > 0:
        yield LogKind.NOTE, f"{_INDENT}[{left_out} lines are left out here]"
        for line in lines[-half:]:
            yield LogKind.OUTPUT, _one(_INDENT + line)


def _one(text: str) -> str:
    """One line of text. Of a line that was written over and over, as a progress bar is, the last state counts."""
    text = _ESCAPES.sub("", text).rstrip("\r\n").replace("\n", " ")
    text = text.rpartition("\r")[2]
    return capped(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).rstrip(), LOG_TEXT_CAP)
