"""Every run says which workers did its work without a whole sandbox, whatever came after."""

from __future__ import annotations

import pytest

from relay.contract import TestedOn, is_weak_sandbox
from relay.runs.confinement import weak_sandboxes
from relay.runs.leases import expire_leases, lease_next
from relay.runs.queries import run_detail
from relay.store.engine import Store
from relay.views import ShardView, WeakSandbox
from tests.relay.worker_story import DEVICE, NOW, TERMS, arrive_and_plan, later, names

LACKING = "landlock: bubblewrap is not installed"


def shard(sandbox: str, worker: str = "w1") -> ShardView:
    return ShardView(
        id=1, kind="test", state="done", attempt=1, worker="last", progress="", tests=1, reported=1, error="",
        sandbox=sandbox, sandbox_of=worker,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("told", "weak"),
    [("", False), (" ", False), ("bubblewrap", False), ("bubblewrap 0.8", False), ("bubblewrap: any call", True),
     ("landlock: no bwrap", True), ("none", True), ("none: off", True), ("bubblewrapped", True)],
)  # fmt: skip
def test_only_bubblewrap_that_lacks_nothing_is_whole(told: str, weak: bool) -> None:
    assert is_weak_sandbox(told) is weak


def test_workers_are_told_apart_with_the_shards_of_each() -> None:
    shards = [shard("bubblewrap", "w0"), shard(LACKING, "w1"), shard("none", "w2"), shard("none", "w2"), shard("")]
    assert weak_sandboxes(None, shards) == (
        WeakSandbox(worker="w2", shards=2, sandbox="none"),
        WeakSandbox(worker="w1", shards=1, sandbox=LACKING),
    )


def test_a_run_from_before_has_what_its_environment_says() -> None:
    old = TestedOn(name="default", torch_version="2.13.0", sandbox="none: off")
    assert weak_sandboxes(old, [shard("")]) == (WeakSandbox(worker="", shards=0, sandbox="none: off"),)
    assert weak_sandboxes(old, [shard("none: off")]) == (WeakSandbox(worker="w1", shards=1, sandbox="none: off"),)
    whole = TestedOn(name="default", torch_version="2.13.0", sandbox="bubblewrap")
    assert weak_sandboxes(whole, [shard("")]) == ()


def test_a_later_lease_does_not_hide_what_an_earlier_worker_lacked(store: Store) -> None:
    """Its results are kept, so what it was is kept too; of two workers the one that lacked something is named."""
    run_id = arrive_and_plan(store, [names(2)])
    steps = ((NOW, "w1", "bubblewrap"), (later(40), "w2", LACKING), (later(80), "w3", "bubblewrap"))
    seen = []
    for now, worker, sandbox in steps:
        with store.writing() as session:
            expire_leases(session, run_id, now, TERMS)
            assert lease_next(session, DEVICE, worker, now, TERMS, sandbox=sandbox) is not None
        with store.reading() as session:
            detail = run_detail(session, run_id, "")
        seen.append((detail.shards[-1].worker, detail.shards[-1].sandbox_of, detail.shards[-1].sandbox))
    assert seen == [("w1", "w1", "bubblewrap"), ("w2", "w2", LACKING), ("w3", "w2", LACKING)]
    assert detail.weak_sandboxes == (WeakSandbox(worker="w2", shards=1, sandbox=LACKING),)
