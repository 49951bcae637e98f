"""How often a backend, and an address before it has said who it is, may call (crcr-protocol 3.5, W18).

A backend's bucket is a row that all replicas share (`relay.throttle`). Addresses are counted in memory, per process: a
flood of strangers must not reach the database.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from threading import Lock

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.store.crcr_models import RateBucket
from relay.throttle import GRAIN, WINDOW_S, locked_bucket, network_of, refill, wait_for_token

#: How many calls of one address are let in for each that a backend may make: machines behind one address are many.
_ADDRESS_SHARE = 10
_ADDRESSES_KEPT = 10_000


def count_call(session: Session, key: str, per_minute: int, now: datetime) -> bool:
    """The original's limit: of a sliding minute, refused calls counted too. Whether this call is within it. The window
    is kept as one row for each second."""
    second = int(now.timestamp())
    keys = [f"{key}@{earlier}" for earlier in range(second - WINDOW_S + 1, second + 1)]
    current = locked_bucket(session, keys[-1], 0.0, now)
    current.tokens += 1
    session.flush()
    total = session.scalar(select(func.sum(RateBucket.tokens)).where(RateBucket.key.in_(keys)))
    return total is not None and total <= per_minute


class AddressLimit:
    """Buckets of addresses, in memory. Of very many addresses those that called longest ago are forgotten."""

    def __init__(self, backend_per_minute: int) -> None:
        self._per_minute = backend_per_minute * _ADDRESS_SHARE
        self._buckets: OrderedDict[str, tuple[float, datetime]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """How many addresses are remembered."""
        return len(self._buckets)

    def take(self, address: str, now: datetime) -> int | None:
        """Take a token. None when there was one, else the seconds until there is."""
        key = network_of(address)
        with self._lock:
            tokens, at = self._buckets.pop(key, (float(self._per_minute), now))
            tokens = refill(tokens, (now - at).total_seconds(), self._per_minute)
            granted = tokens >= 1 - GRAIN
            self._buckets[key] = (tokens - 1 if granted else tokens, max(now, at))
            if len(self._buckets) > _ADDRESSES_KEPT:
                self._buckets.popitem(last=False)
        return None if granted else wait_for_token(tokens, self._per_minute)
