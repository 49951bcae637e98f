"""Tests that were seen to use a changed operator are proposed: added to what is written, never instead of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pytest

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Reached, Status
from selector.known import Known
from selector.ownership import link_tests
from selector.ownership.observed import MAX_ASKED, observed_links, operators_of
from tests.selector.upstream import MemoryTree

CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_a.py": "class TestA(TestCase):\n    def test_x(self): pass\n    def test_y(self): pass\n",
            "test/test_many.py": "".join(f"def test_{number}(): pass\n" for number in range(300)),
        }
    )
)
X, Y = "test/test_a.py::TestA::test_x", "test/test_a.py::TestA::test_y"


@dataclass
class Seen:
    """A record with fixed content, which notes what it is asked."""

    uses: Mapping[str, Collection[str]]
    asked: list[list[str]] = field(default_factory=list)

    def tests_using(self, operators: Collection[str]) -> Mapping[str, Collection[str]]:
        self.asked.append(list(operators))
        return self.uses


def changed(path: str, *names: str, text: str = "", category: Category = Category.PYTHON_SOURCE) -> FileChange:
    reached = tuple(Reached(name, name) for name in names)
    return FileChange(path, None, Status.MODIFIED, category, symbols=names, reached=reached, text=text)


@pytest.mark.parametrize(
    "path",
    [
        *("torch/_decomp/decompositions.py", "torch/_refs/__init__.py", "torch/_refs/nn/functional/__init__.py"),
        *("torch/_meta_registrations.py", "torch/functional.py", "torch/nn/functional.py", "torch/linalg/__init__.py"),
        *("torch/_inductor/lowering.py", "torch/_inductor/decomposition.py"),
    ],
)
def test_names_of_files_that_write_operators_down_are_operators(path: str) -> None:
    assert operators_of(changed(path, "gelu", "Linear.forward")) == ["aten::gelu", "aten::gelu_"]


@pytest.mark.parametrize("path", ["torch/nn/modules/linear.py", "torch/utils/data.py", "torch/_refsx.py", "test/a.py"])
def test_names_of_other_files_are_not(path: str) -> None:
    """Every class has an `add` or a `size`."""
    assert operators_of(changed(path, "add")) == []


def test_primitives_have_a_space_of_their_own() -> None:
    assert operators_of(changed("torch/_prims/__init__.py", "exp")) == [
        *("aten::exp", "aten::exp_", "prims::exp", "prims::exp_")
    ]


def test_listed_operators_are_read_off_the_changed_lines() -> None:
    schema = "-- func: gelu.out(Tensor self) -> Tensor\n+- func: gelu(Tensor self) -> Tensor\n+  variants: function\n"
    listed = changed("aten/src/ATen/native/native_functions.yaml", text=schema, category=Category.CODEGEN)
    assert operators_of(listed) == ["aten::gelu", "aten::gelu_"]
    formula = "+- name: lerp.Scalar(Tensor self)\n+  self: grad\n"
    derived = changed("tools/autograd/derivatives.yaml", text=formula, category=Category.CODEGEN)
    assert operators_of(derived) == ["aten::lerp", "aten::lerp_"]


def test_the_tests_that_used_it_are_proposed_with_the_reason() -> None:
    seen = Seen({"aten::gelu": [Y, X, "test/gone.py::T::test_gone"], "aten::unasked": [X]})
    change = ChangeSet((changed("torch/_refs/__init__.py", "gelu"),))
    links = list(observed_links(change, CATALOG, seen))
    assert [str(found.test.test) for found in links] == [X, Y]
    assert {(found.reason.rule, found.reason.evidence, found.reason.score, found.must_run) for found in links} == {
        ("observed operator", "used aten::gelu on the device, which torch/_refs/__init__.py changes", 0.6, False)
    }
    assert seen.asked == [["aten::gelu", "aten::gelu_"]]


def test_what_everything_uses_is_weak() -> None:
    many = [f"test/test_many.py::test_{number}" for number in range(300)]
    change = ChangeSet((changed("torch/functional.py", "add"),))
    assert {found.reason.score for found in observed_links(change, CATALOG, Seen({"aten::add": many}))} == {0.25}


def test_the_question_is_bounded_and_asked_once() -> None:
    seen = Seen({})
    names = [f"op{number}" for number in range(500)]
    change = ChangeSet((changed("torch/functional.py", *names), changed("torch/nn/functional.py", *names)))
    assert list(observed_links(change, CATALOG, seen)) == []
    assert [len(asked) for asked in seen.asked] == [MAX_ASKED]


def test_nothing_is_asked_about_a_change_of_no_operator() -> None:
    seen = Seen({})
    assert list(observed_links(ChangeSet((changed("torch/utils/data.py", "add"),)), CATALOG, seen)) == []
    assert seen.asked == []


def test_observations_add_candidates_and_leave_a_file_untied() -> None:
    """They are incomplete: a file that only they tie to tests still widens the selection."""
    file = changed("torch/_decomp/decompositions.py", "gelu")
    plain = link_tests(ChangeSet((file,)), CATALOG)
    assert (plain.candidates, plain.unlinked) == ((), (file,))
    found = link_tests(ChangeSet((file,)), CATALOG, "", Known(observed=Seen({"aten::gelu": [X]})))
    assert [str(candidate.test) for candidate in found.candidates] == [X]
    assert found.unlinked == (file,)
