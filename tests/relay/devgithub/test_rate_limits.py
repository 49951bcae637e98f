"""An hour's requests, counted for each credential."""

from __future__ import annotations

from relay.devgithub.rate_limits import WINDOW_S, RateLimits
from tests.relay.devgithub.conftest import Clock


def test_counts_each_caller_for_an_hour(clock: Clock) -> None:
    limits = RateLimits(clock)
    limits.limit, limits.anonymous_limit = 2, 1
    assert [limits.count("app 1").remaining for _ in range(2)] == [1, 0]
    assert not limits.count("").exceeded
    assert limits.count("").exceeded
    over = limits.count("app 1")
    assert over.exceeded
    assert over.headers()["X-RateLimit-Remaining"] == "0"
    assert over.headers()["X-RateLimit-Used"] == "2"
    assert over.reset == int(clock().timestamp()) + WINDOW_S
    clock.tick(WINDOW_S)
    assert limits.count("app 1").remaining == 1


def test_looking_costs_nothing(clock: Clock) -> None:
    limits = RateLimits(clock)
    assert [limits.count("a", requests=0).used for _ in range(3)] == [0, 0, 0]
