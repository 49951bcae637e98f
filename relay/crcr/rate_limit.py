"""How often a backend, and an address before it has said who it is, may call (crcr-protocol 3.5, W18).

A backend's bucket is a row that all replicas share. Addresses are counted in memory, per process: a flood of strangers
must not reach the database.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from datetime import datetime, timedelta
from ipaddress import IPv6Address, IPv6Network, ip_address
from threading import Lock

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from relay.store.crcr_models import RateBucket

_WINDOW_S = 60
#: A bucket that nobody took from for so long is full, and a window so old counts for nothing: neither needs its row.
_IDLE = timedelta(minutes=10)
#: How many calls of one address are let in for each that a backend may make: machines behind one address are many.
_ADDRESS_SHARE = 10
_ADDRESSES_KEPT = 10_000
_IPV6_NETWORK_BITS = 64
#: Of a token: sums of fractions of seconds never quite make a whole one.
_GRAIN = 1e-6


def refill(tokens: float, elapsed_s: float, per_minute: int) -> float:
    """The tokens of a bucket after so many seconds. A clock that went back adds nothing."""
    return min(float(per_minute), tokens + max(0.0, elapsed_s) * per_minute / _WINDOW_S)


def wait_for_token(tokens: float, per_minute: int) -> int:
    """Whole seconds until there is a token again, at least 1."""
    return max(1, math.ceil((1 - tokens - _GRAIN) * _WINDOW_S / per_minute))


def take_token(session: Session, key: str, per_minute: int, now: datetime) -> int | None:
    """Take a token from the bucket of `key`, which holds a minute's worth. None when there was one, else the seconds
    until there is. A refused call takes nothing, so that trying again does not keep the door shut."""
    bucket = _row(session, key, float(per_minute), now)
    tokens = refill(bucket.tokens, (now - bucket.refilled_at).total_seconds(), per_minute)
    granted = tokens >= 1 - _GRAIN
    bucket.tokens = tokens - 1 if granted else tokens
    bucket.refilled_at = max(now, bucket.refilled_at)
    session.flush()
    return None if granted else wait_for_token(tokens, per_minute)


def count_call(session: Session, key: str, per_minute: int, now: datetime) -> bool:
    """The original's limit: of a sliding minute, refused calls counted too. Whether this call is within it. The window
    is kept as one row for each second."""
    second = int(now.timestamp())
    keys = [f"{key}@{earlier}" for earlier in range(second - _WINDOW_S + 1, second + 1)]
    current = _row(session, keys[-1], 0.0, now)
    current.tokens += 1
    session.flush()
    total = session.scalar(select(func.sum(RateBucket.tokens)).where(RateBucket.key.in_(keys)))
    return total is not None and total <= per_minute


def _row(session: Session, key: str, tokens: float, now: datetime) -> RateBucket:
    """The row of a key, locked; a new one starts with `tokens`."""
    locked = select(RateBucket).where(RateBucket.key == key).with_for_update()
    found = session.scalar(locked)
    if found is not None:
        return found
    session.execute(delete(RateBucket).where(RateBucket.refilled_at < now - _IDLE))
    fresh = RateBucket(key=key, tokens=tokens, refilled_at=now)
    try:
        with session.begin_nested():
            session.add(fresh)
        return fresh
    except IntegrityError:
        # A twin request made it between our look and our insert.
        return session.scalars(locked).one()


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
            granted = tokens >= 1 - _GRAIN
            self._buckets[key] = (tokens - 1 if granted else tokens, max(now, at))
            if len(self._buckets) > _ADDRESSES_KEPT:
                self._buckets.popitem(last=False)
        return None if granted else wait_for_token(tokens, self._per_minute)


def network_of(address: str) -> str:
    """Whom an address belongs to: one machine owns a whole /64 of IPv6, and could call from a new address each time."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped or IPv6Network((int(parsed), _IPV6_NETWORK_BITS), strict=False))
    return str(parsed)
