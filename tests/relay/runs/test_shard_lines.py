"""What is written about a shard is read back, for any worker's name and any error, and nothing else is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.runs import shard_lines
from relay.runs.shard_lines import ShardLine, read

ORDINALS = st.integers(0, 10**6)


@given(ORDINALS, st.text(min_size=1, max_size=80), st.integers(1, 99))
def test_a_lease_is_read_back_with_its_worker(ordinal: int, worker: str, attempt: int) -> None:
    assert read(shard_lines.leased(ordinal, "test", worker, attempt)) == ShardLine(ordinal, worker=worker)


@given(ORDINALS, st.text(max_size=80))
def test_every_end_is_read_back_whatever_the_error_says(ordinal: int, error: str) -> None:
    for line in (shard_lines.done(ordinal), shard_lines.done(ordinal, ": all its tests are reported")):
        assert read(line) == ShardLine(ordinal)
    for line in (shard_lines.due_again(ordinal, 1, 3, error), shard_lines.given_up(ordinal, 3, error)):
        assert read(line) == ShardLine(ordinal, error=error)
    assert read(shard_lines.called_off(ordinal)) == ShardLine(ordinal, error="called off")


@given(ORDINALS, st.integers(0, 10**5))
def test_results_are_read_back_with_their_number(ordinal: int, results: int) -> None:
    assert read(shard_lines.reported(results, ordinal)) == ShardLine(ordinal, results=results)


def test_the_selection_is_of_the_first_shard() -> None:
    assert read(shard_lines.selected("Shard 3")) == ShardLine(shard_lines.SELECT_ORDINAL)


def test_a_line_that_was_cut_still_tells_which_shard_it_is_about() -> None:
    cut = shard_lines.leased(4, "test", "w" * 600, 12)[:500]
    told = read(cut)
    assert told is not None
    assert (told.ordinal, set(told.worker)) == (4, {"w"})


@pytest.mark.parametrize(
    "text", ["", "Planned 3 tests in 1 shards.", "Shards 3", "Shard x is done.", "Shard 9999999999999"]
)
def test_other_lines_tell_nothing(text: str) -> None:
    assert read(text) is None
