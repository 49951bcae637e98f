"""How evenly the shards of a run share its work: as planned, and as it went. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from relay.contract import ShardKind
from relay.store.models import ShardState
from relay.views import Balance, ShardView


def balance_of(shards: Sequence[ShardView]) -> Balance | None:
    """Of the shards with tests; None where there is nothing to compare."""
    tested = [shard for shard in shards if shard.kind == ShardKind.TEST]
    if len(tested) < 2:
        return None
    done = all(shard.state == ShardState.DONE for shard in tested)
    return Balance(
        shards=len(tested),
        expected=imbalance([shard.expected_s for shard in tested]),
        measured=imbalance([shard.took_s for shard in tested]) if done else None,
    )


def imbalance(seconds: Sequence[float]) -> float | None:
    """The longest over the mean; None when one of them is not known."""
    if len(seconds) < 2 or min(seconds) <= 0:
        return None
    return round(max(seconds) / fmean(seconds), 3)
