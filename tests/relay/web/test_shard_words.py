"""What is said of how shards share a run."""

from __future__ import annotations

import pytest

from relay.views import Balance
from relay.web.shard_words import balance


@pytest.mark.parametrize(
    ("expected", "measured", "said"),
    [
        (None, None, ""),
        (1.12, None, "The longest of 4 shards of tests was planned at 1.1 times the mean one."),
        (None, 1.5, "The longest of 4 shards of tests took 1.5 times the mean one."),
        (1.12, 1.5, "The longest of 4 shards of tests was planned at 1.1 times the mean one, and took 1.5 times."),
    ],
)
def test_the_longest_shard_is_held_against_the_mean_one(
    expected: float | None, measured: float | None, said: str
) -> None:
    assert balance(Balance(shards=4, expected=expected, measured=measured)) == said


def test_a_run_of_one_shard_has_no_balance() -> None:
    assert balance(None) == ""
