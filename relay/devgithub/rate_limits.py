"""GitHub's primary rate limit: so many requests an hour for each credential, told in every answer's headers.

Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

WINDOW_S = 3600
#: Of an installation and of an app; and of an address that shows no credential.
KNOWN_LIMIT, ANONYMOUS_LIMIT = 5_000, 60


@dataclass(frozen=True)
class Quota:
    """What is left for a caller after this request. `reset` is in seconds of the epoch."""

    limit: int
    used: int
    reset: int

    @property
    def exceeded(self) -> bool:
        """Whether this request was one too many."""
        return self.used > self.limit

    @property
    def remaining(self) -> int:
        """How many more are answered."""
        return max(0, self.limit - self.used)

    def headers(self) -> dict[str, str]:
        """As every answer carries them."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Used": str(min(self.used, self.limit)),
            "X-RateLimit-Reset": str(self.reset),
            "X-RateLimit-Resource": "core",
        }


class RateLimits:
    """The quotas of all callers. `limit` and `anonymous_limit` may be set by whoever wants to meet them."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.limit = KNOWN_LIMIT
        self.anonymous_limit = ANONYMOUS_LIMIT
        self._now = now
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[int, int]] = {}

    def count(self, caller: str, *, requests: int = 1) -> Quota:
        """Count requests of a caller ("" shows no credential); 0 only looks."""
        now = int(self._now().timestamp())
        with self._lock:
            used, reset = self._windows.get(caller, (0, now + WINDOW_S))
            if reset <= now:
                used, reset = 0, now + WINDOW_S
            self._windows[caller] = used + requests, reset
        return Quota(self.limit if caller else self.anonymous_limit, used + requests, reset)
