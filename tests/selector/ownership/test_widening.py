"""A change widens to every test unless its facts name the operators it is about and those have generated tests."""

from __future__ import annotations

import pytest

from selector.catalog import Catalog, build_catalog
from selector.change import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Status
from selector.ownership.widening import widening_reasons
from tests.selector.upstream import HEADER, MemoryTree

NATIVE = "aten/src/ATen/native/Foo.cpp"
HARNESS = "torch/testing/_internal/common_methods_invocations.py"
CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_ops.py": HEADER + "class TestOps(TestCase):\n    @ops(op_db)\n    def test_all(self): pass\n",
            HARNESS: "op_db = [OpInfo('addmm'), OpInfo('linalg.norm')]\n",
        }
    )
)


def reasons(
    *facts: Fact, category: Category = Category.NATIVE, old_path: str | None = None, catalog: Catalog | None = CATALOG
) -> tuple[str, ...]:
    file = FileChange(NATIVE, old_path, Status.MODIFIED, category, facts=facts)
    return widening_reasons(ChangeSet((file,)), (), catalog)


def kernel(op: str = "addmm", effect: Effect = Effect.BEHAVIOUR, *, partial: bool = False) -> Fact:
    return Fact(NATIVE, FactKind.KERNEL, f"{op}_cpu", op, effect, 1, "changed, function", partial)


NEW = Fact(NATIVE, FactKind.FUNCTION, "came", "", Effect.NEW, 1, "added, function")
INCLUDE = Fact(NATIVE, FactKind.INCLUDE, evidence="includes outside every function")


def test_kernels_of_operators_with_generated_tests_are_found_by_these() -> None:
    assert reasons(kernel()) == reasons(kernel("linalg_norm")) == reasons(kernel(), INCLUDE, NEW) == ()
    assert reasons(kernel(effect=Effect.OTHER_BACKEND)) == ()


def test_without_a_catalog_or_generated_tests_there_is_nothing_to_find_them_by() -> None:
    assert reasons(kernel(), catalog=None)
    assert reasons(kernel(), catalog=build_catalog(MemoryTree({HARNESS: "OpInfo('addmm')\n"})))
    assert reasons(kernel(), catalog=build_catalog(MemoryTree({"test/test_a.py": "def test_a(): pass\n"})))


def test_one_fact_that_is_not_understood_widens_and_is_named() -> None:
    loose = Fact(NATIVE, FactKind.FUNCTION, "helper", evidence="changed, function")
    assert reasons(kernel(), loose) == (f"{NATIVE}: native code is not mapped to tests (helper: changed, function)",)


@pytest.mark.parametrize(
    "fact",
    [
        kernel("unheard_of"),
        kernel(partial=True),
        kernel(effect=Effect.SCHEMA),
        kernel(effect=Effect.ABI),
        Fact(NATIVE, FactKind.HEADER, "addmm", "addmm", Effect.BEHAVIOUR),
        Fact(NATIVE, FactKind.UNKNOWN, effect=Effect.UNKNOWN),
        Fact(NATIVE, FactKind.HARNESS, "helper", effect=Effect.EVERYTHING),
        INCLUDE,
    ],
)
def test_what_may_reach_other_tests_widens(fact: Fact) -> None:
    assert reasons(fact)


def test_a_function_that_nothing_called_before_needs_no_test() -> None:
    assert reasons(NEW) == reasons(NEW, category=Category.TEST_HARNESS) == ()


def test_an_entry_whose_expectations_changed_is_found_by_its_operator() -> None:
    skips = Fact(HARNESS, FactKind.OP_INFO, "addmm", "addmm", Effect.EXPECTATION)
    assert reasons(skips, category=Category.TEST_HARNESS) == ()


def test_a_moved_file_and_the_build_widen_whatever_is_in_them() -> None:
    assert reasons(kernel(), old_path="aten/src/ATen/native/Bar.cpp")
    assert reasons(kernel(), category=Category.BUILD)
    assert reasons(kernel(), category=Category.UNCLASSIFIED)
