"""Cutting plans into shards: nothing lost, within bounds, and about as long as each other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.shards.packing import FILE_S, ISOLATED_S, PackedTest, ShardRoom, expected_seconds, pack


def of_file(file: str, count: int, *, bases: int = 1) -> list[PackedTest]:
    return [PackedTest(f"{file}::{number}", file, f"{file}::T::{number % bases}") for number in range(count)]


def known(seconds: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """The seconds of all tests of each file, which has one base test."""
    return {file: {f"{file}::T::0": took} for file, took in seconds.items()}


FILES = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.integers(1, 60), st.floats(0, 900)), max_size=8)


@settings(max_examples=40)
@given(FILES, st.integers(1, 40), st.floats(1, 400))
def test_every_test_is_in_one_shard_which_holds_no_more_than_it_may(
    files: dict[str, tuple[int, float]], most: int, target_s: float
) -> None:
    tests = [test for file, (count, _) in files.items() for test in of_file(file, count)]
    shards = pack(tests, known({file: took for file, (_, took) in files.items()}), ShardRoom(most, target_s))
    assert sorted(test for shard in shards for test in shard.ids) == sorted(test.id for test in tests)
    assert all(0 < len(shard.ids) <= most for shard in shards)
    assert [shard.expected_s for shard in shards] == sorted((shard.expected_s for shard in shards), reverse=True)


@given(FILES)
def test_no_shard_takes_much_longer_than_the_target_unless_one_test_does(files: dict[str, tuple[int, float]]) -> None:
    """Twice: a piece of a file goes over by half a test at most, and the emptiest shard is below the mean."""
    tests = [test for file, (count, _) in files.items() for test in of_file(file, count)]
    durations = known({file: took for file, (_, took) in files.items()})
    longest = max(expected_seconds(tests, durations).values(), default=0.0)
    shards = pack(tests, durations, ShardRoom(10_000, 300.0))
    assert all(shard.expected_s <= 2 * 300.0 + FILE_S + longest for shard in shards)


def test_shards_are_about_as_long_as_each_other() -> None:
    """Eight files of very different length, three shards: nobody waits long for the last."""
    took = {"a": 280.0, "b": 140.0, "c": 130.0, "d": 90.0, "e": 60.0, "f": 40.0, "g": 20.0, "h": 10.0}
    tests = [test for file in took for test in of_file(file, 20)]
    lengths = [shard.expected_s for shard in pack(tests, known(took), ShardRoom(200, 300.0))]
    assert len(lengths) == 3
    assert max(lengths) / (sum(lengths) / len(lengths)) < 1.1


def test_a_file_is_kept_whole_where_it_fits_and_cut_in_its_order_where_not() -> None:
    tests = [*of_file("small", 5), *of_file("large", 30)]
    shards = pack(tests, known({"small": 50.0, "large": 600.0}), ShardRoom(200, 300.0))
    large = [[test for test in shard.ids if test.startswith("large")] for shard in shards]
    assert sum(any(test.startswith("small") for test in shard.ids) for shard in shards) == 1
    assert sorted((part for part in large if part), key=lambda part: int(part[0].partition("::")[2])) == [
        [test.id for test in of_file("large", 30)][start:end] for start, end in ((0, 10), (10, 20), (20, 30))
    ]


def test_the_tests_of_a_shard_stay_in_the_plans_order() -> None:
    tests = [*of_file("a", 3), *of_file("b", 3)]
    (shard,) = pack(tests, known({"b": 50.0}), ShardRoom(10, 300.0))
    assert list(shard.ids) == [test.id for test in tests]


@pytest.mark.parametrize(("count", "lengths"), [(3, [3]), (200, [200]), (450, [150, 150, 150])])
def test_where_nothing_is_recorded_the_number_of_tests_decides(count: int, lengths: list[int]) -> None:
    shards = pack(of_file("a", count), {}, ShardRoom(200, 1_000.0))
    assert [len(shard.ids) for shard in shards] == lengths


def test_what_is_not_recorded_takes_what_is_usual_in_its_file_else_anywhere() -> None:
    tests = [*of_file("a", 6, bases=3), *of_file("b", 1), *of_file("c", 1)]
    durations = {"a": {"a::T::0": 4.0, "a::T::1": 8.0}, "b": {"b::T::0": 9.0}}
    seconds = expected_seconds(tests, durations)
    assert [seconds[f"a::{number}"] for number in range(3)] == [2.0, 4.0, 3.0]
    assert seconds["c::0"] == 4.0


def test_a_process_of_its_own_costs_time() -> None:
    (alone,) = pack([PackedTest("a::0", "a", "a::T::0", isolate=True)], known({"a": 2.0}), ShardRoom(10, 60.0))
    assert alone.expected_s == 2.0 + ISOLATED_S + FILE_S


def test_no_plan_has_no_shards() -> None:
    assert pack([], {}, ShardRoom(10, 60.0)) == ()
