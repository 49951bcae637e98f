"""One small change with an uncertain band, and models that are told what to say, for the tests of the agent."""

from __future__ import annotations

import json
from collections.abc import Sequence

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Status
from selector.triage import Budget, LlmClient, Sources, triage
from selector.types import BaseTest, Candidate, Reason, Stage, StageResult
from tests.selector.upstream import MemoryTree, source_of_class

FILES = {
    "torch/x.py": "def gelu(a):\n    return a\n",
    "torch/testing/_internal/common_methods_invocations.py": 'op_db = [\n    OpInfo(\n        "gelu",\n    ),\n]\n',
    "aten/src/ATen/native/native_functions.yaml": "- func: gelu(Tensor self) -> Tensor\n  variants: function\n",
    "test/test_a.py": source_of_class("TestA", *(f"test_{number}: gelu(1)" for number in range(20))),
}
TREE = MemoryTree(FILES)
CATALOG = build_catalog(TREE)
CHANGE = ChangeSet(
    (FileChange("torch/x.py", None, Status.MODIFIED, Category.PYTHON_SOURCE, symbols=("gelu",), text="-a\n+b"),)
)
TESTS: tuple[BaseTest, ...] = tuple(entry.test for entry in CATALOG)


def candidates(grey: int = 4, must_run: int = 2) -> tuple[Candidate, ...]:
    """`must_run` candidates first, then the band."""
    linked = (Reason(Stage.OWNERSHIP, "mention", "says it", 0.3),)
    sure = tuple(Candidate(test, linked, must_run=True, score=1.0) for test in TESTS[:must_run])
    return sure + tuple(Candidate(test, linked, score=0.3) for test in TESTS[must_run : must_run + grey])


def judge(
    llm: LlmClient | None,
    given: Sequence[Candidate] | None = None,
    budget: Budget | None = None,
    sources: Sources | None = None,
) -> StageResult:
    """Stage 3 of the example, with tools over its tree."""
    given = candidates() if given is None else given
    return triage(CHANGE, given, CATALOG, llm=llm, sources=sources or Sources(TREE), budget=budget)


def verdicts(word: str, *ids: str, evidence: Sequence[str] = ()) -> str:
    """An answer that says the same of every id."""
    entries = [{"id": i, "verdict": word, "evidence": list(evidence), "reason": f"says {word}"} for i in ids]
    return json.dumps({"verdicts": entries})
