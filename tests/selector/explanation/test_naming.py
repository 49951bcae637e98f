"""Which test a name means."""

from __future__ import annotations

import pytest

from selector.explanation import find_tests
from selector.types import BaseTest

ADD = BaseTest("test/test_a.py", "TestA", "test_add")
ADD_OUT = BaseTest("test/test_a.py", "TestA", "test_add_out")
OTHER = BaseTest("test/nn/test_b.py", "TestB", "test_add_out")
REST = BaseTest("test/nn/test_b.py", "", "")
ALL = (REST, OTHER, ADD_OUT, ADD)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (str(ADD), (ADD,)),
        ("TestA::test_add", (ADD, ADD_OUT)),
        ("test_add_out", (OTHER, ADD_OUT)),
        ("test/nn/test_b.py", (REST,)),
        ("test/test_a.py::TestASPYRE::test_add_spyre_float32", (ADD,)),
        ("TestASPYRE::test_add_out_spyre_float32", (ADD_OUT,)),
        ("test/nn/test_b.py::test_add_out_spyre", (OTHER,)),
        ("test_add_out_spyre", ()),
    ],
)
def test_by_name_by_part_and_by_variant(name: str, found: tuple[BaseTest, ...]) -> None:
    assert find_tests(name, ALL).tests == found


def test_a_name_that_nothing_has_gets_those_that_look_like_it() -> None:
    assert find_tests("TestA::test_adt", ALL).guesses[0] == "test_add"
    assert find_tests("test/test_aa.py::nothing_like_it", ALL).guesses[0] == "test/test_a.py"
    assert find_tests("zzz", ALL).guesses == ()
