"""What a test reaches and another release has otherwise speaks for it; what every test stands on does not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from selector.upgrade.comparing.classify import compare_tests
from selector.upgrade.types import ChangedTest, TestChange
from tests.selector.upstream import MemoryTree

FILES = {
    "test/test_foo.py": """
import torch
import torch.nn.functional as F
from common_foo import check_sum
from torch.jit import trace
from torch.testing._internal.common_utils import TestCase

EXPECTED = 21

class TestFoo(TestCase):
    def setUp(self):
        super().setUp()
        self.scale = 2

    def _checked(self, value):
        check_sum(value)
        self.assertEqual(value, EXPECTED)

    def test_helped(self):
        self._checked(torch.ones(3))

    def test_relu(self):
        x: torch.Tensor = F.relu(torch.ones(3))

    def test_linear(self):
        torch.nn.Linear(2, 2)(torch.ones(2))

    def test_trace(self):
        trace(lambda x: x, torch.ones(3))
""",
    "test/common_foo.py": "def check_sum(value):\n    assert value.sum() == 21\n",
    "torch/__init__.py": "from torch import nn as nn\n",
    "torch/nn/__init__.py": "from torch.nn.modules import *\n",
    "torch/nn/functional.py": "def relu(x):\n    return _relu(x)\n\ndef _relu(x):\n    return x.clamp(0)\n",
    "torch/nn/modules/__init__.py": "from .linear import Linear\n",
    "torch/nn/modules/linear.py": """
from .wide import Wide

class Linear(Wide):
    def forward(self, x):
        return x @ self.weight

    def extra_repr(self):
        return "linear"
""",
    "torch/nn/modules/wide.py": "class Wide:\n    def __init__(self, *sizes):\n        self.weight = sizes\n",
    "torch/jit/__init__.py": "from torch.jit._trace import trace as trace\n",
    "torch/jit/_trace.py": "def trace(function, inputs):\n    return function\n",
    "torch/testing/_internal/common_utils.py": """
import unittest

class TestCase(unittest.TestCase):
    def setUp(self):
        pass

    def assertEqual(self, one, other):
        assert one == other
""",
}


def changed(replacements: Mapping[str, tuple[str, str]]) -> dict[str, ChangedTest]:
    """What became of each test when in each file a text was replaced."""
    after = {path: text.replace(*replacements.get(path, ("", ""))) for path, text in FILES.items()}
    assert after != FILES
    return {one.test.name: one for one in compare_tests(MemoryTree(FILES), MemoryTree(after)).tests}


@pytest.mark.parametrize(
    ("path", "old", "new", "tests"),
    [
        ("test/common_foo.py", "== 21", "== 22", {"test_helped"}),
        ("test/test_foo.py", "EXPECTED = 21", "EXPECTED = 22", {"test_helped"}),
        ("test/test_foo.py", "scale = 2", "scale = 3", {"test_helped", "test_relu", "test_linear", "test_trace"}),
    ],
)
def test_a_helper_a_constant_and_a_fixture_speak_for_the_tests_that_use_them(
    path: str, old: str, new: str, tests: set[str]
) -> None:
    told = changed({path: (old, new)})
    assert {name for name, one in told.items() if one.changes == (TestChange.HELPER,)} == tests


@pytest.mark.parametrize(
    ("path", "old", "new", "test"),
    [
        ("torch/nn/functional.py", "clamp(0)", "clamp(1)", "test_relu"),
        ("torch/nn/modules/wide.py", "= sizes", "= sizes[0]", "test_linear"),
        ("torch/jit/_trace.py", "return function", "return inputs", "test_trace"),
    ],
)
def test_code_speaks_for_the_tests_that_name_it_through_packages_and_base_classes(
    path: str, old: str, new: str, test: str
) -> None:
    told = changed({path: (old, new)})
    assert [name for name, one in told.items() if one.change is not TestChange.UNCHANGED] == [test]
    assert told[test].changes == (TestChange.CODE,)
    (evidence,) = told[test].evidence
    assert evidence.head is not None
    assert evidence.head.path == path


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("torch/nn/modules/linear.py", '"linear"', '"a line"'),
        ("torch/testing/_internal/common_utils.py", "one == other", "one is other"),
    ],
)
def test_what_a_test_does_not_call_and_what_every_test_is_judged_by_speak_for_none(
    path: str, old: str, new: str
) -> None:
    assert {one.change for one in changed({path: (old, new)}).values()} == {TestChange.UNCHANGED}


def test_a_chain_leads_from_the_test_to_the_helper() -> None:
    (evidence,) = changed({"test/common_foo.py": ("== 21", "== 22")})["test_helped"].evidence
    assert evidence.chain == ("TestFoo._checked", "check_sum")


def test_a_helper_that_moved_as_it_is_speaks_for_nothing() -> None:
    after = {path: text for path, text in FILES.items() if path != "test/common_foo.py"}
    after["test/helpers_foo.py"] = FILES["test/common_foo.py"]
    after["test/test_foo.py"] = FILES["test/test_foo.py"].replace("from common_foo", "from helpers_foo")
    difference = compare_tests(MemoryTree(FILES), MemoryTree(after))
    assert {one.change for one in difference.tests} == {TestChange.UNCHANGED}
