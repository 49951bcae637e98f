"""What a refusal says to operators, and how long it asks us to wait."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.github.refusals import refusal, server_time
from relay.github.types import GitHubError
from relay.outgoing import Answer

#: Ours is ten minutes behind GitHub's.
NOW = datetime(2026, 11, 2, 9, 20, tzinfo=UTC)
GITHUBS = "Mon, 02 Nov 2026 09:30:00 GMT"
AT = int(datetime(2026, 11, 2, 9, 30, tzinfo=UTC).timestamp())


def refused(status: int, body: object = None, **headers: str) -> GitHubError:
    """The error of an answer; header names are written with underscores."""
    named = {name.replace("_", "-").encode(): value.encode("latin-1") for name, value in headers.items()}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal("POST /x", Answer(status, httpx.Headers(named), content), NOW)


EXHAUSTED = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(AT + 90)}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait."}


@pytest.mark.parametrize(
    ("error", "wait_s"),
    [
        (refused(429, retry_after="7"), 7),
        (refused(403, retry_after="7"), 7),
        (refused(503, retry_after="7"), 7),
        (refused(429, retry_after="0"), 1),
        (refused(429, retry_after="Mon, 02 Nov 2026 09:31:00 GMT", date=GITHUBS), 60),
        (refused(429, retry_after="Mon, 02 Nov 2026 09:31:00 GMT"), 660),
        (refused(403, date=GITHUBS, **EXHAUSTED), 90),
        (refused(429, date=GITHUBS, **EXHAUSTED), 90),
        (refused(403, **EXHAUSTED), 690),
        (refused(403, date=GITHUBS, x_ratelimit_remaining="0", x_ratelimit_reset=str(AT - 5)), 1),
        (refused(403, date=GITHUBS, x_ratelimit_remaining="0", x_ratelimit_reset="99999999999"), 86_400),
        (refused(403, retry_after="7", **EXHAUSTED), 7),
        (refused(403, SECONDARY), 60),
        (refused(429, SECONDARY), 60),
        (refused(403, SECONDARY, retry_after="120"), 120),
    ],
)
def test_a_limit_says_how_long_by_githubs_own_clock(error: GitHubError, wait_s: float) -> None:
    """Never no time at all, never more than a day; and another try makes sense."""
    assert error.retry_after_s == wait_s
    assert error.passing


@pytest.mark.parametrize(
    "error",
    [
        refused(403, {"message": "Resource not accessible by integration"}),
        refused(403, x_ratelimit_remaining="4999", x_ratelimit_reset=str(AT)),
        refused(403, x_ratelimit_remaining="0"),
        refused(404, retry_after="7", **EXHAUSTED),
        refused(422, retry_after="7"),
        refused(401),
        refused(403, retry_after="soon"),
        refused(403, retry_after="²"),
        refused(403, retry_after="-5"),
        refused(403, retry_after="9" * 40),
    ],
)
def test_what_is_no_limit_asks_for_no_wait_and_is_final(error: GitHubError) -> None:
    """Waiting would not make it right."""
    assert error.retry_after_s is None
    assert not error.passing


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_a_fault_of_theirs_may_pass_without_a_time(status: int) -> None:
    """The outbox has a pace of its own."""
    error = refused(status, b"<html>Unicorn!</html>")
    assert (error.status, error.passing, error.retry_after_s) == (status, True, None)
    assert error.message == f"GitHub answered {status} to POST /x"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "Not Found"}, "Not Found"),
        (
            {"message": "Validation Failed", "errors": [{"message": "head_sha is bad"}]},
            "Validation Failed; head_sha is bad",
        ),
        (
            {"message": "Validation Failed", "errors": [{"resource": "CheckRun", "field": "name", "code": "missing"}]},
            "Validation Failed; CheckRun name missing",
        ),
        ({"message": "Invalid", "errors": ["No", 7, None]}, "Invalid; No"),
        ({"message": "Two\nlines \x1b[31m"}, "Two lines  [31m"),
        ({"message": ["no", "text"]}, ""),
        ({"errors": "no list"}, ""),
        (["no", "mapping"], ""),
    ],
)
def test_githubs_words_are_told_on_one_line(body: object, said: str) -> None:
    """With what exactly is wrong with which field."""
    assert refused(422, body).message == "GitHub answered 422 to POST /x" + (f": {said}" if said else "")


def test_githubs_words_are_bounded() -> None:
    """An answer may quote a whole payload."""
    assert len(refused(422, {"message": "x" * 9_000}).message) < 600


@given(
    status=st.sampled_from([403, 422, 429, 503]),
    names=st.lists(st.sampled_from(["retry-after", "x-ratelimit-reset", "x-ratelimit-remaining", "date"]), unique=True),
    value=st.text(st.characters(max_codepoint=255), max_size=40),
    body=st.binary(max_size=80),
)
def test_any_answer_is_some_refusal(status: int, names: list[str], value: str, body: bytes) -> None:
    """Whatever a proxy writes into it."""
    headers = httpx.Headers([(name.encode(), value.encode("latin-1")) for name in names])
    error = refusal("GET /x", Answer(status, headers, body), NOW)
    assert error.status == status
    assert error.retry_after_s is None or 1 <= error.retry_after_s <= 86_400


@pytest.mark.parametrize(
    ("date", "known"), [(GITHUBS, True), ("", False), ("yesterday", False), ("Mon, 99 Nov 2026 09:30:00 GMT", False)]
)
def test_githubs_clock_is_known_when_it_tells(date: str, known: bool) -> None:
    """As an aware time."""
    found = server_time(httpx.Headers({"date": date}))
    assert (found == datetime(2026, 11, 2, 9, 30, tzinfo=UTC)) is known
    assert (found is None) is not known
