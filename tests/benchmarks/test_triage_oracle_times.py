"""Seconds of files become seconds of tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from selector.catalog import build_catalog
from tests.benchmarks.triage_oracle_times import read_times
from tests.selector.upstream import MemoryTree, source_of_class

FILES = ("test_a", "nn/test_b", "test_c", "test_d")
CATALOG = build_catalog(MemoryTree({f"test/{name}.py": source_of_class("TestX", "test_1", "test_2") for name in FILES}))


def times(folder: Path, **known: float) -> Path:
    file = folder / "test-times.json"
    document = {"default": {"default": {name.replace("__", "/"): seconds for name, seconds in known.items()}}}
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_the_tests_of_a_file_share_its_seconds_and_an_unknown_file_takes_the_median(tmp_path: Path) -> None:
    durations = read_times(times(tmp_path, test_a=10, nn__test_b=1, test_c=4, other=1_000)).durations(CATALOG)
    seconds = durations.seconds(["test/test_a.py", "test/nn/test_b.py", "test/test_d.py", "test/none.py"])
    assert seconds["test/test_a.py"] == {"test/test_a.py::TestX::test_1": 5.0, "test/test_a.py::TestX::test_2": 5.0}
    assert sum(seconds["test/nn/test_b.py"].values()) == 1.0
    assert sum(seconds["test/test_d.py"].values()) == 4.0
    assert "test/none.py" not in seconds
    assert durations.total == 19.0


def test_a_tree_without_any_known_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no test file of this tree"):
        read_times(times(tmp_path, other=1.0)).durations(CATALOG)


@pytest.mark.parametrize("document", [{}, {"default": []}, {"default": {"default": {"a": None}}}, []])
def test_another_file_is_refused(tmp_path: Path, document: object) -> None:
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ValueError, match="is no file of test times"):
        read_times(tmp_path / "x.json")
