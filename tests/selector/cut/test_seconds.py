"""Durations on record, and what stands in for those that are not."""

from __future__ import annotations

import math

from selector.cut.seconds import UNKNOWN_S, Seconds
from tests.selector.cut.ground import Recorded, base_test

A0, A1, A2, B0 = base_test("a", 0), base_test("a", 1), base_test("a", 2), base_test("b", 0)


def test_a_test_without_a_record_lasts_as_long_as_its_file_does_in_the_middle() -> None:
    """Else as all files, else a second."""
    known = Recorded({str(A0): 4.0, str(A1): 6.0, "test/test_c.py::T::t": 100.0})
    seconds = Seconds(known, ["test/test_a.py", "test/test_b.py", "test/test_c.py"])
    assert (seconds.of(A0), seconds.of(A2), seconds.of(B0)) == (4.0, 5.0, 6.0)
    assert [seconds.recorded(test) for test in (A0, A2, B0)] == [True, False, False]
    assert Seconds(None, ["test/test_a.py"]).of(A0) == UNKNOWN_S


def test_numbers_that_are_no_durations_are_left_out() -> None:
    known = Recorded({str(A0): math.nan, str(A1): -3.0, str(A2): math.inf, str(B0): 2.0})
    seconds = Seconds(known, ["test/test_a.py", "test/test_b.py"])
    assert [seconds.of(test) for test in (A0, A1, A2, B0)] == [2.0] * 4
    assert not seconds.recorded(A0)


def test_a_duration_of_nothing_is_a_record() -> None:
    seconds = Seconds(Recorded({str(A0): 0.0, str(A1): 9.0}), ["test/test_a.py"])
    assert seconds.of(A0) == 0.0
    assert seconds.recorded(A0)


def test_all_files_are_asked_about_at_once_and_none_is_not_asked() -> None:
    known = Recorded({})
    Seconds(known, ["test/test_a.py", "test/test_b.py"])
    Seconds(known, [])
    assert known.asked == [["test/test_a.py", "test/test_b.py"]]
