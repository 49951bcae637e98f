"""Supersession: which jobs a new head or a closed pull request makes useless, that each is marked once, and cancelled
only if the operator wants that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from relay.context import RelayContext
from relay.crcr.supersede import supersede
from relay.github.types import GitHubError
from relay.intake.deliveries import process_delivery, record_delivery
from relay.store.crcr_models import JobState, OutboxKind, OutboxState
from relay.store.engine import Store
from tests.conformance.payloads import S1, S2, pull_request
from tests.relay.crcr.stage import Stage, staged

_HANDLED = "2026-11-02T12:05:00Z"


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record with a GitHub to look at."""
    with staged(context) as made:
        yield made


@pytest.fixture
def anywhere(context: RelayContext, store: Store) -> Iterator[Stage]:
    """The same on SQLite and on PostgreSQL, for what asks the record more than for a row."""
    with staged(replace(context, store=store)) as made:
        yield made


def told(stage: Stage, payload: dict[str, Any]) -> Sequence[int]:
    """The jobs that a webhook supersedes, and everything sent that came of it."""
    with stage.context.store.writing() as session:
        marked = supersede(session, stage.context.settings, payload, stage.clock())
    stage.outbox.deliver_due()
    return marked


def test_a_new_head_supersedes_what_runs_for_others(anywhere: Stage) -> None:
    """Of this pull request; what has ended, and what runs for the new head, is left alone."""
    old = anywhere.add()
    anywhere.add(head_sha=S2)
    anywhere.add(pr_number=8)
    anywhere.add(state=JobState.COMPLETED, conclusion="success")
    anywhere.add(event_type="push")
    anywhere.add(upstream_repo="else/where")
    assert told(anywhere, pull_request("synchronize", sha=S2)) == (old.id,)
    assert anywhere.history(old.id) == ["superseded"]
    assert anywhere.job(old.id).state is JobState.IN_PROGRESS


def test_a_closed_pull_request_supersedes_all_that_runs_for_it(stage: Stage) -> None:
    """For its last head, too."""
    jobs = [stage.add(), stage.add(head_sha=S2)]
    assert told(stage, pull_request("closed", sha=S1)) == tuple(job.id for job in jobs)


@pytest.mark.parametrize("action", ["synchronize", "closed"])
def test_a_webhook_that_comes_late_supersedes_nothing(anywhere: Stage, action: str) -> None:
    """A later one was handled: what runs belongs to the newer head."""
    anywhere.add(head_sha=S2)
    late, on_time = pull_request(action), pull_request(action)
    late["pull_request"]["updated_at"], on_time["pull_request"]["updated_at"] = "2026-11-02T12:00:00Z", _HANDLED
    with anywhere.context.store.writing() as session:
        body = json.dumps(on_time).encode()
        kept, _ = record_delivery(session, "newer", "pull_request", body, anywhere.clock())
        process_delivery(session, kept.id, ("spyre",), anywhere.clock())
    assert told(anywhere, late) == ()
    assert len(told(anywhere, on_time)) == 1


def test_a_job_is_marked_once(stage: Stage) -> None:
    """However often the pull request moves on."""
    job = stage.add()
    told(stage, pull_request("synchronize", sha=S2))
    assert told(stage, pull_request("closed", sha=S2)) == ()
    assert stage.history(job.id) == ["superseded"]


@pytest.mark.parametrize(
    "payload",
    [
        pull_request("opened", sha=S2),
        pull_request("labeled", sha=S2),
        pull_request("closed") | {"pull_request": None, "number": None},
        pull_request("closed") | {"pull_request": {"number": "7"}, "number": None},
        pull_request("synchronize") | {"pull_request": {"number": 7, "head": None}},
        pull_request("synchronize") | {"pull_request": {"number": 7, "head": {"sha": None}}},
    ],
)
def test_other_webhooks_supersede_nothing(stage: Stage, payload: dict[str, Any]) -> None:
    """Nor do those that are not as GitHub documents them."""
    stage.add()
    assert told(stage, payload) == ()


def test_nothing_is_cancelled_unless_that_is_wanted(stage: Stage) -> None:
    """It is the backend's run, and maybe its only one."""
    stage.add()
    told(stage, pull_request("closed"))
    assert stage.github.cancels == []


def test_each_run_is_cancelled_once_if_that_is_wanted(anywhere: Stage) -> None:
    """Two jobs of one run are one; a run of another CI is out of reach."""
    anywhere.set(crcr_cancel_superseded=True)
    anywhere.add()
    anywhere.add(job_name="test")
    anywhere.add(run_id="101")
    anywhere.add(run_id="0198-uuid")
    told(anywhere, pull_request("closed"))
    assert sorted(anywhere.github.cancels) == [("a/l4", 100), ("a/l4", 101)]


@pytest.mark.parametrize(
    ("status", "state"),
    [(404, OutboxState.SENT), (409, OutboxState.SENT), (403, OutboxState.DEAD), (500, OutboxState.DUE)],
)
def test_what_is_over_needs_no_cancelling(stage: Stage, status: int, state: OutboxState) -> None:
    """Other refusals are kept as such."""
    stage.set(crcr_cancel_superseded=True)
    stage.add()
    stage.github.fail("cancel_run", GitHubError("no", status=status))
    told(stage, pull_request("closed"))
    assert [row.state for row in stage.queued(OutboxKind.CANCEL)] == [state]
