"""A docstring leads to the tests that read docstrings, and to nothing else."""

from __future__ import annotations

import difflib

from selector.catalog import build_catalog
from selector.change import analyse
from selector.ownership import link_tests
from selector.ownership.widening import widening_reasons
from selector.pipeline import select
from selector.types import SelectionState
from tests.selector.upstream import HEADER, MemoryTree

FUNCTION = 'def gelu(x):\n    """Says.\n\n    >>> gelu(1)\n    """\n    return x\n'
READERS = {
    "test/test_hints.py": HEADER
    + "import inspect\n\ndef examples(): return inspect.getdoc(torch.abs)\n\n"
    + "class TestHints(TestCase):\n    def test_examples(self): examples()\n    def test_other(self): pass\n",
}
OTHERS = {"test/test_functional.py": HEADER + "def test_gelu(): gelu()\n"}


def change(tests: dict[str, str], *, code: str = "") -> tuple[str, MemoryTree, MemoryTree]:
    path = "torch/functional.py"
    after = FUNCTION.replace("gelu(1)", "gelu(2)") + code
    lines = difflib.unified_diff(FUNCTION.splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}")
    diff = f"diff --git a/{path} b/{path}\n{''.join(lines)}"
    return diff, MemoryTree({path: FUNCTION, **tests}), MemoryTree({path: after, **tests})


def test_a_docstring_alone_selects_who_reads_docstrings_and_nothing_else() -> None:
    outcome = select(*change(READERS | OTHERS), llm=None, manifests=None)
    assert outcome.selection.state is SelectionState.SELECTED
    assert [(str(kept.test), kept.must_run) for kept in outcome.selection.kept] == [
        ("test/test_hints.py::TestHints::test_examples", True)
    ]
    assert outcome.selection.dropped == ()


def test_a_docstring_that_no_test_reads_affects_nothing_and_says_so() -> None:
    selection = select(*change(OTHERS), llm=None, manifests=None).selection
    assert selection.state is SelectionState.NOTHING_AFFECTED
    assert "docstrings changed, which no test reads" in selection.notes


def test_with_code_beside_it_the_readers_are_among_the_tests() -> None:
    diff, base, head = change(READERS | OTHERS, code="def relu(x): return x\n")
    judged = analyse(diff, base, head)
    found = link_tests(judged, build_catalog(head))
    rules = {candidate.test.name: {reason.rule for reason in candidate.reasons} for candidate in found.candidates}
    assert "docstring" in rules["test_examples"]
    assert "path" in rules["test_gelu"]
    assert widening_reasons(judged, found.unlinked) == ()
