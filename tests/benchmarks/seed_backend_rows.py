"""What backends reported over months, and what came in and has to go out: rows of the protocol's tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from relay.store.crcr_models import OutboxKind, OutboxState
from relay.store.models import DeliveryState
from tests.benchmarks.seed_rows import REPO, Row, SeededRun, Size, sha

_JOBS = ("build", "test-1", "test-2", "test-3", "lint")
_CONCLUSIONS = ("success", "success", "success", "success", "failure", "success", "timed_out", "success", "cancelled")


def backend(number: int) -> str:
    """A backend's repository."""
    return f"vendor-{number}/torch-device"


def reports(told: list[SeededRun], size: Size) -> Iterator[Row]:
    """Jobs of the backends, spread over the commits of pull requests and of the branch."""
    for number in range(1, size.reports + 1):
        run = told[(number * len(told) // size.reports - 1) % len(told)]
        repo, job = backend(number % size.backends), _JOBS[number % len(_JOBS)]
        start = run.at + timedelta(minutes=number % 50)
        yield {
            "id": number,
            "identity": sha(number) + sha(number)[:24],
            "dynamo_key": f"{repo}/{number}",
            "status": "completed",
            "conclusion": _CONCLUSIONS[number % len(_CONCLUSIONS)],
            "downstream_repo": repo,
            "repo_key": repo,
            "downstream_repo_level": f"L{1 + number % size.backends % 4}",
            "upstream_repo": REPO,
            "pr_number": run.pr or 0,
            "pytorch_head_sha": run.head,
            "delivery_id": f"delivery-{run.id}",
            "event_type": "pull_request" if run.pr else "push",
            "workflow_name": "CI",
            "workflow_run_url": f"https://github.com/{repo}/actions/runs/{number}",
            "job_name": job,
            "run_id": str(number),
            "queue_time": float(number % 300),
            "execution_time": float(600 + number % 900),
            "started_at": start,
            "completed_at": start + timedelta(seconds=600 + number % 900),
            "total_tests": 900,
            "passed_tests": 890,
            "failed_tests": number % 7,
            "first_seen_at": start,
            "listed_at": start,
            "updated_at": start,
        }


def deliveries(told: list[SeededRun], size: Size) -> Iterator[Row]:
    """Webhooks, most of which opened a run."""
    for number in range(1, size.deliveries + 1):
        run = told[(number - 1) % len(told)]
        ignored = number % 4 == 0
        yield {
            "id": number,
            "delivery_id": f"delivery-{number}",
            "event": "push" if run.pr is None else "pull_request",
            "body_sha256": sha(number) + sha(number)[:24],
            "payload": b'{"action": "synchronize"}' * 40,
            "received_at": run.at,
            "state": DeliveryState.IGNORED if ignored else DeliveryState.PROCESSED,
            "note": "the relay does not act on pull_request edited" if ignored else "",
            "run_id": None if ignored else run.id,
        }


def outbox(size: Size, now: datetime) -> Iterator[Row]:
    """Most were sent; some are dead, some are due."""
    for number in range(1, size.deliveries + 1):
        dead, due = number % 40 == 0, number > size.deliveries - 20
        at = now - timedelta(minutes=size.deliveries - number)
        yield {
            "id": number,
            "kind": OutboxKind.DISPATCH,
            "key": f"dispatch:{number}",
            "lane": f"lane:{number % 50}",
            "target": backend(number % size.backends),
            "body": {"number": number},
            "state": OutboxState.DUE if due else OutboxState.DEAD if dead else OutboxState.SENT,
            "attempts": 0 if due else 8 if dead else 1,
            "due_at": at,
            "last_status": 502 if dead else None if due else 204,
            "last_error": "502 Bad Gateway" if dead else "",
            "created_at": at,
            "open_since": at,
            "settled_at": None if due else at,
        }
