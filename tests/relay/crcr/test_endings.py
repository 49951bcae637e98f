"""GitHub's refusals as endings of letters."""

from __future__ import annotations

import pytest

from relay.crcr.endings import ending_of
from relay.github.types import GitHubError
from relay.outbox.types import Postponed, Undeliverable


@pytest.mark.parametrize(
    ("status", "retry_after_s"), [(None, None), (500, None), (503, None), (429, None), (429, 9.0), (403, 60.0)]
)
def test_what_may_succeed_later_is_postponed(status: int | None, retry_after_s: float | None) -> None:
    """With the time that GitHub names."""
    error = GitHubError("no", status=status, retry_after_s=retry_after_s)
    assert ending_of(error) == Postponed("no", status, retry_after_s)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422, 451])
def test_what_is_refused_for_good_is_undeliverable(status: int) -> None:
    """Only a person may send it again."""
    assert ending_of(GitHubError("no", status=status)) == Undeliverable("no", status)
