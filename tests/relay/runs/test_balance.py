"""How evenly the shards of a run share its work."""

from __future__ import annotations

import pytest

from relay.contract import ShardKind
from relay.runs.balance import balance_of, imbalance
from relay.runs.queries import run_detail
from relay.store.engine import Store
from relay.store.models import ShardState
from relay.views import Balance, ShardView
from tests.relay.worker_story import arrive, end, later, must_lease, names, passes, post_results, post_selection, report


def shard(expected_s: float, took_s: float, state: ShardState = ShardState.DONE) -> ShardView:
    return ShardView(
        id=1,
        kind=ShardKind.TEST,
        state=state,
        attempt=1,
        worker="w",
        progress="",
        tests=1,
        reported=1,
        error="",
        expected_s=expected_s,
        took_s=took_s,
    )


@pytest.mark.parametrize(
    ("seconds", "found"), [([], None), ([4.0], None), ([1.0, 0.0], None), ([2.0, 2.0], 1.0), ([1.0, 3.0], 1.5)]
)
def test_imbalance_is_the_longest_over_the_mean(seconds: list[float], found: float | None) -> None:
    assert imbalance(seconds) == found


def test_what_was_measured_is_told_once_all_are_done() -> None:
    assert balance_of([shard(1, 1)]) is None
    assert balance_of([shard(1, 1), shard(3, 1)]) == Balance(shards=2, expected=1.5, measured=1.0)
    working = shard(3, 1, ShardState.LEASED)
    assert balance_of([shard(1, 1), working]) == Balance(shards=2, expected=1.5, measured=None)
    assert balance_of([shard(0, 1), shard(0, 3)]) == Balance(shards=2, expected=None, measured=1.5)


def test_a_run_tells_how_even_its_plan_was_and_how_it_went(store: Store) -> None:
    """From the worker's report and the leases; the shard that selects does not count."""
    run_id = arrive(store)
    shards = [[name] for name in names(2)]
    post_selection(store, must_lease(store), report(shards).model_copy(update={"shard_seconds": (30.0, 10.0)}))
    for took_s in (40, 40):
        leased = must_lease(store)
        post_results(store, leased, passes(leased))
        end(store, leased, now=later(took_s))
    with store.reading() as session:
        assert run_detail(session, run_id, "").balance == Balance(shards=2, expected=1.5, measured=1.0)
