"""What comes after the last fault: the work that is left, and the question whether every worker still works."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from sqlalchemy import func, select

from relay.outbox.leasing import OPEN_STATES
from relay.runs.states import FINAL_RUN_STATES
from relay.store.crcr_models import OutboxItem
from relay.store.models import Delivery, DeliveryState, Run
from relay.views import RunState
from tests.faults.balancer import Way
from tests.faults.fleet import Fleet
from tests.faults.traffic import Sender, pushed
from tests.faults.upstream import UpstreamCommit

#: What is open: deliveries, runs by how far they are, letters.
_OPEN = (
    *(select(func.count()).where(Run.state == state) for state in RunState if state not in FINAL_RUN_STATES),
    select(func.count()).where(Delivery.state == DeliveryState.RECEIVED),
    select(func.count()).where(OutboxItem.state.in_(OPEN_STATES)),
)

#: Of one worker for one change, when it is the only one that reaches the relay.
_WORKS_S = 120.0


def wait_for_rest(running: Fleet, seconds: float) -> bool:
    """Until nothing is open any more; False when for so long nothing has got any further. How long all of it takes says
    more about the machine."""
    before: tuple[int, ...] = ()
    deadline = time.monotonic() + seconds
    with running.record() as store:
        while time.monotonic() < deadline:
            with store.reading() as session:
                still = tuple(session.scalar(each) or 0 for each in _OPEN)
            if not any(still):
                return True
            if still != before:
                before, deadline = still, time.monotonic() + seconds
            time.sleep(0.25)
    return False


def who_works(running: Fleet, sender: Sender, commits: Sequence[UpstreamCommit]) -> Mapping[str, bool]:
    """Whether each worker does a change that is left to it alone: one that is there, but is woken no more, would be
    missed by nobody while the others work."""
    works = {}
    for worker, balancer, commit in zip(running.workers, running.balancers, commits, strict=True):
        with ExitStack() as stack:
            for other in running.balancers:
                if other is not balancer:
                    other.set_way(Way.CUT)
                    stack.callback(other.set_way, Way.OPEN)
            sender.send(pushed(commit, f"for-{worker.name}"))
            works[worker.name] = wait_for_rest(running, _WORKS_S)
    return works
