"""Each signal fires for what it is about, says what it saw, and stays silent otherwise."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Status
from selector.ownership.signals import FileSignals, Signal, file_signals, with_rules
from selector.types import Reason, Stage
from tests.selector.upstream import MemoryTree

CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_walk.py": "import pkgutil\ndef test_all(): pkgutil.walk_packages()\n",
            "test/test_docs.py": "def examples_of_docstring(): pass\ndef test_docs(): examples_of_docstring()\n",
            "test/test_grad.py": "def test_grad(): gradcheck(f)\n",
            "test/test_ops.py": "class TestOps(TestCase):\n    @ops(op_db)\n    def test_op(self, op): pass\n",
            "test/test_base.py": "class TestBase(TestCase):\n    def test_it(self): pass\n",
            "test/test_again.py": "from test_base import TestBase\nclass TestAgain(TestBase): pass\n",
            "test/test_linear.py": "def test_linear(): linear()\n",
        }
    )
)


class Past:
    """A history in which every path changed with the files given."""

    def __init__(self, *partners: tuple[str, float]) -> None:
        self._partners = dict(partners)

    def changed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        return dict.fromkeys(paths, self._partners)


def signals(
    path: str,
    category: Category = Category.PYTHON_SOURCE,
    status: Status = Status.MODIFIED,
    *,
    facts: tuple[Fact, ...] = (),
    past: Past | None = None,
    description: str = "",
) -> FileSignals:
    change = ChangeSet((FileChange(path, None, status, category, facts=facts),))
    return file_signals(change, CATALOG, description, past)


def having(found: FileSignals, name: str) -> set[str]:
    return {path for path, seen in found.items() if name in seen}


def test_a_walk_over_modules_sees_a_changed_one_and_more_so_a_new_one() -> None:
    assert having(signals("torch/nn/a.py"), "walks packages") == {"test/test_walk.py"}
    assert having(signals("torch/nn/a.py"), "walks new modules") == set()
    assert having(signals("torch/nn/a.py", status=Status.ADDED), "walks new modules") == {"test/test_walk.py"}
    assert having(signals("aten/a.cpp", Category.NATIVE), "walks packages") == set()


def test_a_changed_docstring_is_read_by_tests_of_docstrings() -> None:
    documented = Fact("torch/nn/a.py", FactKind.DOCSTRING, effect=Effect.DOCUMENTATION)
    found = signals("torch/nn/a.py", facts=(documented,))
    assert having(found, "reads docstrings") == {"test/test_docs.py"}
    assert having(found, "walks packages") == set()
    assert having(signals("torch/nn/a.py"), "reads docstrings") == set()


def test_derivatives_lead_to_gradient_tests_and_operators_to_those_of_all_operators() -> None:
    derivatives = signals("tools/autograd/derivatives.yaml", Category.CODEGEN)
    assert having(derivatives, "gradient tests") == {"test/test_grad.py"}
    assert having(derivatives, "operator tests") == {"test/test_ops.py"}
    kernel = signals("aten/src/ATen/native/Linear.cpp", Category.NATIVE)
    assert having(kernel, "operator tests") == {"test/test_ops.py"}
    assert having(kernel, "gradient tests") == set()


def test_a_subclass_of_an_edited_test_leans_on_its_file() -> None:
    found = signals("test/test_base.py", Category.TEST)
    assert having(found, "leans on a changed file") == {"test/test_again.py"}
    assert "test/test_base.py" in found["test/test_again.py"]["leans on a changed file"].evidence


def test_the_past_is_a_signal_only_where_there_is_one() -> None:
    assert not any(having(signals("torch/a.py"), name) for name in ("co-change", "co-change share"))
    found = signals(
        "torch/a.py", past=Past(("test/test_linear.py", 2.0), ("test/test_grad.py", 1.0), ("torch/b.py", 9))
    )
    assert found["test/test_linear.py"]["co-change share"].value == 1.0
    assert found["test/test_grad.py"]["co-change share"].value == 0.5
    assert found["test/test_linear.py"]["co-change"].value == round(math.log1p(2.0), 6)
    assert found["test/test_linear.py"]["co-change"].evidence == "changed with torch/a.py in the year before"


def test_words_of_the_path_and_of_the_description_are_told() -> None:
    found = signals("torch/nn/linear.py", description="Fix gradcheck")
    assert found["test/test_linear.py"]["paths in path"].value == 1.0
    assert found["test/test_linear.py"]["paths in tests"].evidence == "says linear"
    assert found["test/test_grad.py"]["description in tests"].evidence == "says gradcheck"


def test_a_rule_of_one_test_joins_the_signals_of_its_file_with_its_best_score() -> None:
    reasons = [
        Reason(Stage.OWNERSHIP, "path", "weak", 0.35),
        Reason(Stage.OWNERSHIP, "path", "strong", 0.75),
        Reason(Stage.OWNERSHIP, "owner label", "no signal", 0.3),
    ]
    joined = with_rules({"co-change": Signal(0.5, "seen")}, reasons)
    assert joined == {"co-change": Signal(0.5, "seen"), "path": Signal(0.75, "strong")}


def test_the_same_change_has_the_same_signals() -> None:
    assert signals("torch/nn/linear.py", description="x y") == signals("torch/nn/linear.py", description="x y")
