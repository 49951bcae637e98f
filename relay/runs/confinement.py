"""Who worked on a run without a whole sandbox: read from what workers said when they leased its shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from relay.contract import TestedOn, is_weak_sandbox
from relay.views import ShardView, WeakSandbox


def weak_sandboxes(tested_on: TestedOn | None, shards: Sequence[ShardView]) -> tuple[WeakSandbox, ...]:
    """Those with the most shards first. Runs from before shards had it on record have what their environment says."""
    found = Counter((shard.sandbox_of, shard.sandbox) for shard in shards if is_weak_sandbox(shard.sandbox))
    if not found and tested_on is not None and tested_on.unconfined:
        return (WeakSandbox(worker="", shards=0, sandbox=tested_on.sandbox),)
    return tuple(WeakSandbox(worker=worker, shards=n, sandbox=told) for (worker, told), n in found.most_common())
