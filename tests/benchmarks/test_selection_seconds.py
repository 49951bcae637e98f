"""A budget in seconds is spent as a plan would, and times are upstream's or the median."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.selection_seconds import Budgeted, FileTimes, by_score, per_second, within

SECONDS = {"a": 10.0, "b": 50.0, "c": 10.0, "d": 30.0}


def times(folder: Path, document: object) -> FileTimes:
    file = folder / "times.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return FileTimes(file)


def test_a_file_without_a_time_is_of_median_length(tmp_path: Path) -> None:
    told = {"default": {"default": {"test_a": 1.0, "nn/test_b": 9.0, "test_c": 2.0}}}
    assert times(tmp_path, told).of(["test/nn/test_b.py", "functorch/test/test_x.py"]) == {
        "test/nn/test_b.py": 9.0,
        "functorch/test/test_x.py": 2.0,
    }


@pytest.mark.parametrize("document", [{}, [], {"default": []}, {"default": {"default": {}}}, {"default": {}}])
def test_a_file_of_another_form_is_refused(tmp_path: Path, document: object) -> None:
    with pytest.raises(ValueError, match="holds no times"):
        times(tmp_path, document)


def test_what_does_not_fit_makes_room_for_what_does() -> None:
    assert within(0.25, ["b", "a", "c"], SECONDS, ["c"]) == Budgeted(hit=True, spent=0.2)
    assert within(0.25, ["b", "a", "c"], SECONDS, ["b"]) == Budgeted(hit=False, spent=0.2)


def test_what_must_run_runs_over_the_budget_and_counts() -> None:
    assert within(0.1, ["a"], SECONDS, ["b"], {"b": 1.0}) == Budgeted(hit=True, spent=0.5)
    partly = within(0.25, ["a", "b"], SECONDS, ["d"], {"b": 0.2})
    assert partly == Budgeted(hit=False, spent=0.2)


def test_orders() -> None:
    scores = {"a": 0.1, "b": 0.4, "d": 0.9}
    assert by_score(scores, SECONDS) == ["d", "b", "a", "c"]
    assert per_second(scores, SECONDS) == ["d", "a", "b", "c"]
    assert within(0.5, [], {}, []) == Budgeted(hit=False, spent=0.0)
