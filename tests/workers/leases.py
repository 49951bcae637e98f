"""Leases of the shape the relay hands out."""

from __future__ import annotations

from relay.contract import Change, Lease, SelectOrder, ShardKind, TestOrder

NOWHERE = Change(repo="pytorch/pytorch", clone_url="/nowhere", base_sha="a" * 40, head_sha="b" * 40)


def select_lease(change: Change, order: SelectOrder, *, lease_id: str = "select-1", expires_in_s: float = 30) -> Lease:
    return Lease(
        lease_id=lease_id, shard_id=1, run_id=1, kind=ShardKind.SELECT, attempt=1, expires_in_s=expires_in_s,
        change=change, select=order,
    )  # fmt: skip


def a_test_lease(
    change: Change = NOWHERE, tests: tuple[TestOrder, ...] = (), *, lease_id: str = "test-1", expires_in_s: float = 30
) -> Lease:
    return Lease(
        lease_id=lease_id, shard_id=2, run_id=1, kind=ShardKind.TEST, attempt=1, expires_in_s=expires_in_s,
        change=change, tests=tests,
    )  # fmt: skip
