"""The list of operators read as an index, and items that are odd."""

from __future__ import annotations

from selector.change.facts import Effect, FactKind
from selector.change.native_yaml import base_name, compare_yaml, is_operator_yaml, kernels, operators

TEXT = """# comment
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, CUDA: add
    SparseCPU: at::native::add_sparse
- func: add_.Tensor(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    SparseCPU: add_sparse
- func: zero_(Tensor(a!) self) -> Tensor(a!)
"""


def test_kernels_lead_to_the_operators_that_have_them() -> None:
    assert kernels(TEXT) == {
        "add": (("add.Tensor", "CPU, CUDA"),),
        "add_sparse": (("add.Tensor", "SparseCPU"), ("add_.Tensor", "SparseCPU")),
    }


def test_operators_have_their_names_without_overload_and_place() -> None:
    assert operators(TEXT) == {"add", "zero"}
    assert [base_name(name) for name in ("a.b", "a_.b", "__iand__.Tensor", "_", "")] == ["a", "a", "__iand__", "_", ""]


def test_the_files_are_known_in_a_tree_and_in_a_wheel() -> None:
    assert is_operator_yaml("torchgen/packaged/ATen/native/native_functions.yaml")
    assert is_operator_yaml("tools/autograd/derivatives.yaml")
    assert not is_operator_yaml("tools/autograd/other.yaml")


def test_what_stands_before_the_first_item_is_not_lost() -> None:
    (fact,) = compare_yaml("derivatives.yaml", TEXT, f"stray: 1\n{TEXT}")
    assert (fact.kind, fact.effect) == (FactKind.UNKNOWN, Effect.UNKNOWN)


def test_an_item_at_the_wrong_depth_is_not_lost() -> None:
    facts = list(compare_yaml("native_functions.yaml", TEXT, TEXT + " - func: b(Tensor self) -> Tensor\n"))
    assert [fact.effect for fact in facts] == [Effect.UNKNOWN]


def test_no_change_has_no_fact() -> None:
    assert list(compare_yaml("native_functions.yaml", TEXT, TEXT.replace("\n", "\r\n"))) == []
