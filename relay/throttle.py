"""Token buckets that all replicas share: how often somebody may ask, kept in the record.

Owns the arithmetic and the rows. Who is counted, and how often that may be, is said where it is asked. A bucket holds a
minute's worth. A refused call takes nothing, so that trying again does not keep the door shut.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from ipaddress import IPv6Address, IPv6Network, ip_address

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from relay.store.crcr_models import RateBucket

WINDOW_S = 60
#: A bucket that nobody took from for so long is full, and a window so old counts for nothing: neither needs its row.
IDLE = timedelta(minutes=10)
#: Of a token: sums of fractions of seconds never quite make a whole one.
GRAIN = 1e-6
_IPV6_NETWORK_BITS = 64


def refill(tokens: float, elapsed_s: float, per_minute: int) -> float:
    """The tokens of a bucket after so many seconds. A clock that went back adds nothing."""
    return min(float(per_minute), tokens + max(0.0, elapsed_s) * per_minute / WINDOW_S)


def wait_for_token(tokens: float, per_minute: int) -> int:
    """Whole seconds until there is a token again, at least 1."""
    return max(1, math.ceil((1 - tokens - GRAIN) * WINDOW_S / per_minute))


def take_token(session: Session, key: str, per_minute: int, now: datetime) -> int | None:
    """Take a token from the bucket of `key`. None when there was one, else the seconds until there is."""
    bucket = locked_bucket(session, key, float(per_minute), now)
    tokens = refill(bucket.tokens, (now - bucket.refilled_at).total_seconds(), per_minute)
    granted = tokens >= 1 - GRAIN
    bucket.tokens = tokens - 1 if granted else tokens
    bucket.refilled_at = max(now, bucket.refilled_at)
    session.flush()
    return None if granted else wait_for_token(tokens, per_minute)


def seconds_to_wait(session: Session, key: str, per_minute: int, now: datetime) -> int | None:
    """What `take_token` would answer, by looking only: a flood that is refused anyway writes nothing."""
    bucket = session.scalar(select(RateBucket).where(RateBucket.key == key))
    if bucket is None:
        return None
    tokens = refill(bucket.tokens, (now - bucket.refilled_at).total_seconds(), per_minute)
    return None if tokens >= 1 - GRAIN else wait_for_token(tokens, per_minute)


def forget_buckets(session: Session, now: datetime, *, limit: int) -> int:
    """Remove up to `limit` buckets that are full again. How many went."""
    full = select(RateBucket.key).where(RateBucket.refilled_at < now - IDLE).limit(limit)
    keys = session.scalars(full).all()
    if keys:
        session.execute(delete(RateBucket).where(RateBucket.key.in_(keys), RateBucket.refilled_at < now - IDLE))
    return len(keys)


def locked_bucket(session: Session, key: str, tokens: float, now: datetime) -> RateBucket:
    """The row of a key, locked; a new one starts with `tokens`."""
    locked = select(RateBucket).where(RateBucket.key == key).with_for_update()
    found = session.scalar(locked)
    if found is not None:
        return found
    session.execute(delete(RateBucket).where(RateBucket.refilled_at < now - IDLE))
    fresh = RateBucket(key=key, tokens=tokens, refilled_at=now)
    try:
        with session.begin_nested():
            session.add(fresh)
        return fresh
    except IntegrityError:
        # A twin request made it between our look and our insert.
        return session.scalars(locked).one()


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
