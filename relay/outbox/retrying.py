"""When a letter that did not arrive is tried again, and when it is given up. Pure: numbers in, numbers out."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

#: A random number between 0 and 1.
Luck = Callable[[], float]

luck: Luck = random.SystemRandom().random

#: Nobody is tried more often than this, whatever the luck.
_SHORTEST_S = 0.1
#: The other side may ask us to wait, but not for ever.
_LONGEST_WISH_S = 86_400.0
#: 2 to this power is beyond every longest pause, and still a number.
_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class RetryTerms:
    """Pauses grow from `base_s` by doubling up to `longest_s` seconds. A letter is given up after `max_attempts`, or
    when it has been open for `max_age_s` seconds: as long as the original keeps its dispatch records."""

    base_s: float = 2.0
    longest_s: float = 600.0
    max_attempts: int = 1_000
    max_age_s: float = 259_200.0

    def pause_s(self, attempts: int, after_s: float | None, lucky: Luck = luck) -> float:
        """Seconds until the next attempt, after `attempts` that failed. Drawn from the whole range ("full jitter"): of
        many letters that failed together, few come back together. A time that the other side named is a minimum."""
        if after_s is not None:
            return min(max(after_s, 0.0), _LONGEST_WISH_S) + _SHORTEST_S + lucky() * self.base_s
        bound = min(self.longest_s, self.base_s * 2.0 ** min(attempts - 1, _MOST_DOUBLINGS))
        return max(_SHORTEST_S, lucky() * bound)

    def given_up(self, attempts: int, open_since: datetime, now: datetime) -> bool:
        """Whether there is no next attempt."""
        return attempts >= self.max_attempts or now - open_since >= timedelta(seconds=self.max_age_s)
