"""A kernel, a schema or a formula leads to the tests that name its operator and those generated for every operator."""

from __future__ import annotations

import pytest

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Status
from selector.ownership.operators import changed_operators, naming_operators, operator_driven
from selector.ownership.signals import file_signals
from tests.selector.upstream import MemoryTree

KERNEL = "aten/src/ATen/native/Norm.cpp"
CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_named.py": "def check(): torch.linalg_norm(x)\ndef test_norm(): check()\n",
            "test/test_far.py": "def test_far(): pass\n",
            "test/test_db.py": "class TestDb(TestCase):\n    @ops(op_db)\n    def test_op(self, op): pass\n",
            "test/test_modules.py": "class TestM(TestCase):\n    @modules(db)\n    def test_module(self): pass\n",
            "test/test_optim.py": "class TestO(TestCase):\n    @optims(db)\n    def test_optim(self): pass\n",
            "test/test_grad.py": "def test_grad(): gradcheck(f)\n",
            "torch/testing/_internal/common_methods_invocations.py": "OpInfo('linalg.norm')",
        }
    )
)


def native(*facts: Fact, path: str = KERNEL) -> FileChange:
    return FileChange(path, None, Status.MODIFIED, Category.NATIVE, facts=facts)


def kernel(operator: str, effect: Effect = Effect.BEHAVIOUR, kind: FactKind = FactKind.KERNEL) -> Fact:
    return Fact(KERNEL, kind, "norm_kernel", operator, effect)


def files(change: FileChange, name: str) -> set[str]:
    found = file_signals(ChangeSet((change,)), CATALOG, "", None)
    return {path.removeprefix("test/") for path, seen in found.items() if name in seen}


def test_a_kernel_leads_to_the_tests_that_say_its_operator() -> None:
    (found,) = naming_operators(native(kernel("linalg_norm")), CATALOG)
    assert str(found.test.test) == "test/test_named.py::test_norm"
    assert (found.reason.rule, found.reason.score, found.must_run) == ("operator mention", 0.6, False)
    assert found.reason.evidence == f"says linalg_norm, the operator linalg_norm of {KERNEL}"


def test_a_kernel_leads_to_the_tests_of_the_operator_database_that_has_it() -> None:
    found = {str(link.test.test) for link in operator_driven(native(kernel("linalg_norm")), CATALOG)}
    assert found == {"test/test_db.py::TestDb::test_op", "test/test_modules.py::TestM::test_module"}
    assert not list(operator_driven(native(kernel("unheard_of")), CATALOG))


@pytest.mark.parametrize("effect", [Effect.NONE, Effect.OTHER_BACKEND])
def test_what_no_test_of_ours_can_notice_leads_nowhere(effect: Effect) -> None:
    change = native(kernel("linalg_norm", effect))
    assert changed_operators(change) == ()
    assert not [*naming_operators(change, CATALOG), *operator_driven(change, CATALOG)]


def test_a_name_that_many_tests_say_is_weak() -> None:
    tests = "".join(f"def test_{number}(): torch.add(x)\n" for number in range(300))
    catalog = build_catalog(MemoryTree({"test/test_many.py": tests}))
    assert {link.reason.score for link in naming_operators(native(kernel("add")), catalog)} == {0.25}


def test_a_formula_leads_to_gradient_tests_wherever_it_stands() -> None:
    formula = kernel("linalg_norm", Effect.GRADIENT, FactKind.DERIVATIVE)
    assert files(native(formula, path="torchgen/anywhere.yaml"), "gradient tests") == {"test_grad.py"}
    assert files(native(kernel("linalg_norm")), "gradient tests") == set()


def test_modules_and_optimizers_lead_to_what_is_generated_for_each_of_them() -> None:
    assert files(native(path="torch/nn/modules/linear.py"), "module tests") == {"test_modules.py"}
    assert files(native(path="torch/optim/adam.py"), "optimizer tests") == {"test_optim.py"}
    optimizer = Fact("x.py", FactKind.OPTIM_INFO, "Adam", "Adam", Effect.DTYPES)
    assert files(native(optimizer, path="x.py"), "optimizer tests") == {"test_optim.py"}
    assert files(native(path="torch/fx/node.py"), "module tests") == set()
