"""Sentences that compute something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from relay.cli import text

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3_599, "59 minutes ago"),
        (7_200, "2 hours ago"),
        (86_400 * 3, "3 days ago"),
        (-5, "2026-05-04T12:00:05+00:00"),
    ],
)
def test_how_long_ago(seconds: int, words: str) -> None:
    """In the largest whole unit; a time ahead of this clock is shown as it is."""
    assert text.how_long_ago(NOW - timedelta(seconds=seconds), NOW) == words


@pytest.mark.parametrize(("seconds", "words"), [(4.24, "4.2 s"), (200, "3 min 20 s"), (7_500, "2 h 5 min")])
def test_how_long(seconds: float, words: str) -> None:
    """In two units at most."""
    assert text.how_long(seconds) == words


def test_counts_agree_with_their_nouns() -> None:
    """One worker, two workers."""
    assert "with 1 worker;" in text.serving("u", 1)
    assert "with 2 workers;" in text.serving("u", 2)
    assert "with no worker;" in text.serving("u", 0)
    assert text.tests(1) == "1 test"
    assert "(and 2 more)" in text.bad_manifests(3, "x")
    assert "more" not in text.bad_manifests(1, "x")
