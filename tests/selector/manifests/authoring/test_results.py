"""Reported names are taken apart the same way wherever they come from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from selector.manifests.authoring.results import Naming, names_in, no_source_names, seconds, when
from selector.trees import DirectoryTree

PLAIN = Naming("spyre", no_source_names)


@pytest.mark.parametrize("reported", ["TestFooSPYRE", "TestFooPRIVATEUSE1"])
def test_a_class_gets_the_suffix_of_the_device(reported: str) -> None:
    test, _ = PLAIN.identify("test/test_a.py", [reported], "test_x_spyre_float32")
    assert (test.id, test.cls) == ("test/test_a.py::TestFooSPYRE::test_x_spyre_float32", "TestFoo")


@pytest.mark.parametrize("reported", ["TestFoo", "SPYRE", "TestFooCPU"])
def test_a_class_without_the_suffix_stays_as_it_is(reported: str) -> None:
    test, _ = PLAIN.identify("test/test_a.py", [reported], "test_x")
    assert (test.id, test.cls) == (f"test/test_a.py::{reported}::test_x", reported)


def test_a_function_has_no_class_and_a_nested_class_keeps_its_outer_one() -> None:
    assert PLAIN.identify("test/test_a.py", [], "test_x")[0].id == "test/test_a.py::test_x"
    nested, _ = PLAIN.identify("test/test_a.py", ["Outer", "TestInSPYRE"], "test_x")
    assert (nested.id, nested.cls) == ("test/test_a.py::Outer::TestInSPYRE::test_x", "TestIn")


@pytest.mark.parametrize(
    ("method", "base", "known"),
    [
        ("test_add_spyre_float32", "test_add", False),
        ("test_add_mode_a_spyre", "test_add_mode_a", False),
        ("test_add_privateuse1_int8", "test_add", False),
        ("test_plain", "test_plain", True),
        ("test_on_spyreish", "test_on_spyreish", True),
    ],
)
def test_without_sources_the_base_is_what_stands_before_the_device(method: str, base: str, known: bool) -> None:
    test, told = PLAIN.identify("test/test_a.py", ["TestFooSPYRE"], method)
    assert (test.base, told) == (base, known)


def test_with_sources_the_base_is_the_longest_name_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test/test_a.py").write_text("class T:\n def test_add(self): ...\n def test_add_mode(self): ...\n")
    (tmp_path / "test/test_bad.py").write_text("def test_add(:")
    naming = Naming("spyre", names_in(DirectoryTree(tmp_path)))
    parametrised, known = naming.identify("test/test_a.py", ["TSPYRE"], "test_add_mode_a_spyre_float32")
    assert (parametrised.base, known) == ("test_add_mode", True)
    assert naming.identify("test/test_bad.py", ["TSPYRE"], "test_add_x_spyre")[0].base == "test_add_x"


def test_times_are_utc_and_nonsense_is_none() -> None:
    assert when("2026-01-02T03:04:05") == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert when("2026-01-02T03:04:05+02:00") == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert when("yesterday") is None
    assert when(3) is None
    assert [seconds(value) for value in ("1.5", 2, "NaN", -1, None, "x")] == [1.5, 2.0, None, None, None, None]
