"""Two transactions of which neither sees what the other writes, as two processes have them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from sqlalchemy.orm import Session

from relay.store.engine import Store

T = TypeVar("T")

#: Seconds that the second gets before the first goes on. One that waits for the first needs them all.
_AHEAD_S = 0.5


def meanwhile(
    store: Store,
    first: Callable[[Session], object],
    second: Callable[[], T],
    then: Callable[[Session], object] = lambda _: None,
) -> T:
    """What `second` returns, which has transactions of its own and comes when `first` has written and not committed;
    `then` is what the first transaction does last. SQLite, which has one writer, lets the second begin after it."""
    with ThreadPoolExecutor(1) as pool:
        with store.writing() as session:
            first(session)
            session.flush()
            later = pool.submit(second)
            wait([later], _AHEAD_S)
            then(session)
        return later.result(30)
