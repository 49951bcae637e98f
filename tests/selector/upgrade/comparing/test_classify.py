"""What became of a test is told from the text of both trees."""

from __future__ import annotations

import pytest

from selector.types import BaseTest
from selector.upgrade.comparing.classify import compare_tests
from selector.upgrade.types import ChangedTest, TestChange, TestDifference
from tests.selector.upstream import MemoryTree

TESTS = """
import torch
from torch.testing._internal.common_utils import TestCase

class TestFoo(TestCase):
    def test_one(self):
        x = torch.ones(3)
        self.assertEqual(x.sum(), 3)

    def test_two(self):
        y = torch.arange(7)
        self.assertEqual(y.cumsum(0)[-1], 21)
        self.assertEqual(y.flip(0)[0], 6)
"""


def compared(before: dict[str, str], after: dict[str, str]) -> TestDifference:
    return compare_tests(MemoryTree(before), MemoryTree(after))


def changed(before: str, after: str, test: str = "TestFoo::test_one") -> ChangedTest:
    """What became of one test of a file."""
    difference = compared({"test/test_foo.py": before}, {"test/test_foo.py": after})
    return next(one for one in difference.tests if str(one.test) == f"test/test_foo.py::{test}")


def test_a_test_that_only_one_tree_has_was_added_or_removed() -> None:
    bare = TESTS[: TESTS.index("    def test_two")]
    assert changed(bare, TESTS, "TestFoo::test_two").change is TestChange.ADDED
    gone = changed(TESTS, bare, "TestFoo::test_two")
    assert gone.change is TestChange.REMOVED
    (evidence,) = gone.evidence
    assert (evidence.base.line if evidence.base else 0, evidence.head) == (10, None)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("self.assertEqual(x.sum(), 3)", "self.assertEqual(x.sum(), 4)", TestChange.BODY),
        ("    def test_one", "    @slowTest\n    def test_one", TestChange.DECORATORS),
        ("x = torch.ones(3)", "x: torch.Tensor = torch.ones(3)  # three", TestChange.UNCHANGED),
        ("def test_one(self):", 'def test_one(self) -> None:\n        """Sums."""', TestChange.UNCHANGED),
    ],
)
def test_a_test_is_compared_by_what_it_does(old: str, new: str, change: TestChange) -> None:
    assert changed(TESTS, TESTS.replace(old, new)).changes == (change,)


def test_a_test_of_another_name_in_the_same_class_was_renamed() -> None:
    renamed = changed(TESTS, TESTS.replace("test_two", "test_cumsum_and_flip"), "TestFoo::test_cumsum_and_flip")
    assert renamed.changes == (TestChange.RENAMED,)
    assert renamed.former == BaseTest("test/test_foo.py", "TestFoo", "test_two")


def test_a_test_that_another_file_has_moved_and_may_have_changed_on_the_way() -> None:
    after = TESTS.replace("x.sum(), 3", "x.sum(0), 3")
    difference = compared({"test/test_foo.py": TESTS}, {"test/nn/test_bar.py": after})
    assert [str(one.test) for one in difference.tests] == [
        "test/nn/test_bar.py::TestFoo::test_one",
        "test/nn/test_bar.py::TestFoo::test_two",
    ]
    first, second = difference.tests
    assert first.changes == (TestChange.MOVED, TestChange.BODY)
    assert second.changes == (TestChange.MOVED,)
    assert second.former == BaseTest("test/test_foo.py", "TestFoo", "test_two")


def test_tests_that_share_no_more_than_a_name_are_two_tests() -> None:
    other = TESTS.replace("TestFoo", "TestOther").replace("torch.ones(3)", "open('file')").replace("x.sum(), 3", "x, 1")
    other = other[: other.index("    def test_two")]
    difference = compared(
        {"test/test_foo.py": TESTS},
        {"test/test_foo.py": TESTS.replace("test_one", "check_one"), "test/test_bar.py": other},
    )
    assert [one.change for one in difference.tests if one.test.name == "test_one"] == [
        TestChange.ADDED,
        TestChange.REMOVED,
    ]


def test_a_decorator_of_the_class_is_told_once_for_all_of_its_tests() -> None:
    after = TESTS.replace("class TestFoo", "@skipIfTorchDynamo\nclass TestFoo")
    difference = compared({"test/test_foo.py": TESTS}, {"test/test_foo.py": after})
    assert {one.change for one in difference.tests} == {TestChange.UNCHANGED}
    assert difference.notes == (
        "test/test_foo.py:5: class TestFoo has other decorators, which apply to all of its tests",
    )


def test_tests_that_no_text_names_change_with_what_makes_them() -> None:
    made = TESTS + "\nfor name in ('a', 'b'):\n    setattr(TestFoo, f'test_{name}', make(name))\n"
    rest = BaseTest("test/test_foo.py", "", "")

    def of_the_rest(before: str, after: str) -> TestChange:
        difference = compared({"test/test_foo.py": before}, {"test/test_foo.py": after})
        return next(one.change for one in difference.tests if one.test == rest)

    assert of_the_rest(made, made.replace("x.sum(), 3", "x.sum(), 4")) is TestChange.UNCHANGED
    assert of_the_rest(made, made.replace("'b')", "'c')")) is TestChange.BODY


def test_a_file_that_does_not_parse_is_compared_as_one_and_said() -> None:
    difference = compared({"test/test_foo.py": "def ("}, {"test/test_foo.py": "def )"})
    assert [one.change for one in difference.tests] == [TestChange.BODY]
    assert difference.notes == ("test/test_foo.py does not parse, so its tests are compared as one",)
