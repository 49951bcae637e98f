"""Single values of a report, brought into form or dropped."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from relay.hud import untrusted

_NO_TEXT: list[Any] = [None, True, 1.5, [], {}, b"bytes"]
_NO_MOMENT: list[Any] = ["", "now", "2026-13-02T09:30:00Z", 1_700_000_000, None, [], "9" * 100]
_NO_LINK: list[Any] = ["javascript:alert(1)", "//x.org", "https:", "data:text/html,x", "x.org", None]
_NO_DURATION: list[Any] = [None, True, "1", float("nan"), float("inf"), []]
_NO_COUNT: list[Any] = [-1, 10**15 + 1, True, "7", None, float("inf")]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("a b/c: d", "a b/c: d"),
        ("\u540d\u524d \U0001f525", "\u540d\u524d \U0001f525"),
        ("a\nb\x00\u202ec\ud800", "abc"),
        ("x" * 20, "x" * 10),
        (42, "42"),
        (-1, "-1"),
        *[(value, "") for value in _NO_TEXT],
        pytest.param(10**5_000, "", id="a number that Python does not write"),
    ],
)
def test_text_is_one_line_of_printable_characters(value: object, read: str) -> None:
    """No character that turns the direction of a line, or that a database refuses, gets in."""
    assert untrusted.text(value, 10) == read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2026-11-02T09:30:00Z", datetime(2026, 11, 2, 9, 30, tzinfo=UTC)),
        ("2026-11-02T09:30:00.123456Z", datetime(2026, 11, 2, 9, 30, 0, 123_456, tzinfo=UTC)),
        ("2026-11-02T11:30:00+02:00", datetime(2026, 11, 2, 9, 30, tzinfo=UTC)),
        ("2026-11-02 09:30:00", datetime(2026, 11, 2, 9, 30, tzinfo=UTC)),
        *[(value, None) for value in _NO_MOMENT],
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
    ],
)
def test_a_moment_is_in_utc_or_none(value: object, read: datetime | None) -> None:
    assert untrusted.moment(value) == read


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        *[(value, True) for value in ("https://x.org/a?b=c#d", "http://127.0.0.1:8000/", "HTTPS://X.org/")],
        *[(value, False) for value in _NO_LINK],
        ("https://x.org/" + "a" * 100, False),
        (" javascript:https://x.org", False),
    ],
)
def test_a_link_leads_to_the_web_or_nowhere(value: object, kept: bool) -> None:
    """One that is too long is dropped: cut, it would lead elsewhere."""
    assert untrusted.link(value, 100) == (value if kept else "")


@pytest.mark.parametrize(
    ("value", "read"),
    [(0, 0), (1.5, 1.5), (-3, 0.0), *[(value, None) for value in _NO_DURATION]],
)
def test_a_duration_is_never_negative(value: Any, read: float | None) -> None:
    assert untrusted.seconds(value) == read


@pytest.mark.parametrize(
    ("value", "read"),
    [(0, 0), (7.0, 7), (10**15, 10**15), *[(value, None) for value in _NO_COUNT]],
)
def test_a_count_is_bounded(value: Any, read: int | None) -> None:
    assert untrusted.count(value) == read


@pytest.mark.parametrize(
    ("value", "known"), [("a" * 40, True), ("A" * 64, True), ("a" * 39, False), ("g" * 40, False), ("a" * 41, False)]
)
def test_a_commit_has_the_length_of_a_git_hash(value: str, known: bool) -> None:
    assert untrusted.is_sha(value) is known
