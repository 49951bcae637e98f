"""What a file may say that it holds: its own tests, and no more than can be kept."""

from __future__ import annotations

from workers.runner import findings
from workers.runner.child.events import Found, Refused
from workers.runner.findings import Findings


def found(test: str) -> Found:
    return Found(test, "C", "t", "t", None, None, [["n", "1"], ["odd"]])


def test_a_file_has_no_tests_of_another() -> None:
    """A child with the runner's key may say so; a plan would then hold results of tests that never ran."""
    own = Findings("test/test_a.py")
    for test in ("test/test_a.py::C::t", "test/test_b.py::C::t", "test/test_a.pyx::C::t", "", "::"):
        own.receive(found(test))
    assert [(test.id, test.file) for test in own.collection("").tests] == [("test/test_a.py::C::t", "test/test_a.py")]


def test_more_tests_than_can_be_kept_are_left_out_and_told() -> None:
    listed = Findings("f")
    long = "x" * (findings._LISTED_CHARS // 4)
    for number in range(100):
        listed.receive(found(f"f::{number}{long}"))
        listed.receive(Refused(""))
    collection = listed.collection("")
    assert len(collection.tests) == 4
    assert "more tests than can be taken in" in collection.error
