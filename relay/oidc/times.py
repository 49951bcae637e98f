"""The times a token states, judged by our clock. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

#: The year 9999: beyond it a date cannot be written down.
_LATEST = 253_402_300_799


class BadTimesError(Exception):
    """The token is not valid now. The message is the cause, for whoever sent it."""


@dataclass(frozen=True, slots=True)
class TimeRules:
    """`must_expire` asks for `exp` and `iat`. `leeway_s` is how far two clocks may differ, `max_age_s` for how long a
    token may be used after it was issued, however late it expires."""

    must_expire: bool
    leeway_s: float
    max_age_s: float


#: Jobs fetch a token right before they call (300 s is what the public wrapper asks for); an hour is for slow ones.
OURS = TimeRules(must_expire=True, leeway_s=30.0, max_age_s=3_600.0)
#: What the original does: no leeway, no bound, and a token without an end is good for ever.
STRICT = TimeRules(must_expire=False, leeway_s=0.0, max_age_s=math.inf)


def valid_until(claims: Mapping[str, object], rules: TimeRules, now: datetime) -> datetime:
    """The moment after which the token is refused; for one without an end, a day from now.

    Raises:
        BadTimesError: it is expired, not valid yet, too old, or its times are missing or no times.
    """
    at = now.timestamp()
    issued, begins, ends = (_time(claims, name) for name in ("iat", "nbf", "exp"))
    if rules.must_expire and (ends is None or issued is None):
        raise BadTimesError("it has no 'exp' claim" if ends is None else "it has no 'iat' claim")
    if max(issued or 0.0, begins or 0.0) > at + rules.leeway_s:
        raise BadTimesError("it is not valid yet; is the clock of either side wrong?")
    last = min(
        math.inf if ends is None else ends + rules.leeway_s,
        math.inf if issued is None else issued + rules.max_age_s + rules.leeway_s,
    )
    if at >= last:
        raise BadTimesError("it is expired; ask for a new one right before each call")
    return now + timedelta(days=1) if math.isinf(last) else datetime.fromtimestamp(last, UTC)


def _time(claims: Mapping[str, object], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    # JSON knows true, 1e999 and NaN as well; none of them is a moment.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LATEST:
        raise BadTimesError(f"its '{name}' claim is no time")
    return float(value)
