"""Places, hits and intervals of rankings are what their words say."""

from __future__ import annotations

from tests.benchmarks.selection_figures import (
    Place,
    difference,
    hit_interval,
    hits,
    interval,
    mean_reciprocal,
    misses,
    place,
    quantile,
    random_place,
)

FILES = ("a", "b", "c", "d")


def test_the_best_broken_file_counts_and_ties_go_by_name() -> None:
    assert place({"c": 1.0, "d": 0.5}, FILES, ["d", "b"]) == Place(1, 4)
    assert place({}, FILES, ["b"]) == Place(1, 4)
    assert place({"a": 1.0}, FILES, []) == Place(4, 4)


def test_a_random_order_finds_more_broken_files_sooner() -> None:
    assert random_place(100, 1).rank == 50 - 0
    assert random_place(100, 9).rank == 9
    assert random_place(100, 0) == Place(100, 100)


def test_a_hit_is_a_place_before_the_share() -> None:
    places = [Place(0, 100), Place(9, 100), Place(10, 100), Place(100, 100)]
    assert hits(places, 0.10) == 0.5
    assert misses(places, 0.10) == 2
    assert mean_reciprocal(places) == (1 + 1 / 10 + 1 / 11 + 0) / 4
    assert hits([], 0.1) == mean_reciprocal([]) == 0.0


def test_an_interval_holds_the_mean_and_repeats() -> None:
    values = [1.0] * 30 + [0.0] * 10
    low, high = interval(values)
    assert low < 0.75 < high
    assert interval(values) == (low, high)
    assert interval([]) == (0.0, 0.0)
    assert hit_interval([Place(0, 10)] * 5, 0.1) == (1.0, 1.0)


def test_a_difference_is_paired() -> None:
    ours = [Place(0, 10), Place(0, 10)]
    theirs = [Place(0, 10), Place(9, 10)]
    assert difference(ours, theirs, 0.25)[0] == 0.5
    assert difference(ours, ours, 0.25) == (0.0, (0.0, 0.0))


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile([3.0, 1.0, 2.0, 4.0], 0.5) == 2.0
    assert quantile([1.0, 2.0], 0.95) == 2.0
    assert quantile([], 0.5) == 0.0
