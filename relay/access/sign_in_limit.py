"""How often somebody may try to sign in: from one address, and everybody together. Counted before a token is looked at,
so that what a refusal says and how long it takes has nothing to do with the token.

Owns both numbers. A token is 256 random bits and is not found by trying; what is guarded is the record, the log, and a
token that somebody made up for the settings.
"""

from __future__ import annotations

from datetime import datetime

from relay.store.engine import Store
from relay.throttle import network_of, seconds_to_wait, take_token

#: Tries in a minute. People behind one address are many; a program that tries is quicker than all of them.
PER_ADDRESS = 20
OVERALL = 200


def count_try(store: Store, address: str, now: datetime) -> int | None:
    """Count a try. None when it may be made, else the seconds until one may."""
    limits = ((f"sign-in/{network_of(address)}", PER_ADDRESS), ("sign-in", OVERALL))
    with store.reading() as session:
        waits = [seconds_to_wait(session, key, per_minute, now) for key, per_minute in limits]
    if any(waits):
        return max(wait or 0 for wait in waits)
    # In this order, everywhere: two that try at once would lock each other out in opposite ones.
    for key, per_minute in limits:
        with store.writing() as session:
            wait = take_token(session, key, per_minute, now)
        if wait is not None:
            return wait
    return None
