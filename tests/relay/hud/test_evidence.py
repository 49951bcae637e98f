"""What stands beside a report on the pages."""

from __future__ import annotations

from typing import Any

import pytest

from relay.store.crcr_models import BackendJob, JobState
from relay.store.engine import Store
from tests.relay.hud.told import ask, told

_JOB: dict[str, Any] = {
    **dict.fromkeys(("repo", "repo_key"), "a/l2"),
    "identity": "i",
    "delivery_id": "d1",
    "workflow": "CI",
    "job_name": "build",
    "run_id": "100",
    "run_attempt": 1,
    "event_type": "pull_request",
    "level": "L2",
    "upstream_repo": "pytorch/pytorch",
    "state": JobState.COMPLETED,
    "callback": {},
}


@pytest.mark.parametrize("query", ["crcr_pr_results", "crcr_backend_dashboard"])
@pytest.mark.parametrize(
    ("changes", "beside"),
    [
        ({"verified": True}, (True, "", [])),
        ({"verified": False, "mismatch": ["head_sha"]}, (False, "", ["head_sha"])),
        ({"assumed": "no report for 6 h"}, (None, "no report for 6 h", [])),
        ({"run_attempt": 2, "verified": True}, (None, "", [])),
        ({"delivery_id": "d2", "verified": True}, (None, "", [])),
        ({"repo_key": "a/l3", "verified": True}, (None, "", [])),
    ],
)
def test_a_row_tells_what_the_relay_knows_of_its_own_job(
    store: Store, query: str, changes: dict[str, Any], beside: tuple[bool | None, str, list[str]]
) -> None:
    told(store, delivery="d1")
    with store.writing() as session:
        session.add(BackendJob(**(_JOB | changes)))
    parameters = {"pr": 7, "repo": "a/L2", "days": 7, "per_page": 50, "offset": 0}
    (row,) = ask(store, query, **parameters)
    assert (row["verified"], row["assumed"], row["mismatch"]) == beside


def test_any_number_of_deliveries_can_be_looked_up(store: Store) -> None:
    """More than one question to the database may hold."""
    for number in range(501):
        told(store, delivery=f"d{number:03}")
    with store.writing() as session:
        for number in (0, 500):
            session.add(
                BackendJob(**(_JOB | {"identity": str(number), "delivery_id": f"d{number:03}", "verified": True}))
            )
    rows = ask(store, "crcr_pr_results", pr=7)
    assert (len(rows), sum(row["verified"] is True for row in rows)) == (501, 2)
