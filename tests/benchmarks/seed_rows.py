"""What a record holds after months: rows of every table that pages read, all made by rule, so that two are alike.

Pushes follow each other, every day has an audit of the newest, pull requests come back with new heads; now and then a
change breaks something, sometimes unseen by its selection.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from relay.contract import Expected, Observation, ShardKind, Tree
from relay.runs import shard_lines
from relay.runs.audits import SETTLED
from relay.store.models import ShardState, Trigger
from relay.views import Conclusion, RunState, Verdict
from tests.benchmarks.bulk import Written

REPO, DEVICE = "pytorch/pytorch", "spyre"
_FILES, _PER_FILE = 40, 50
_DAYS = 90
_DOCUMENTS = 20
_WORKERS = 8
_TITLES = ("Compute it in fewer steps", "Fix the sign of the gradient", "Add a dtype", "Move a check to its caller")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How large a record is to be. Results are `runs` x `tests`."""

    runs: int = 5_000
    tests: int = 200
    considered: int = 300
    reports: int = 20_000
    deliveries: int = 5_000
    backends: int = 6

    @property
    def upgraded(self) -> int:
        """Tests of the upgrade report on record; two releases of upstream have some 30,000."""
        return 6 * self.runs


@dataclass(frozen=True, slots=True)
class SeededRun:
    """A run's place in the story. It runs the tests of the pool from the place `window` on; the first are broken."""

    id: int
    trigger: Trigger
    pr: int | None
    base: str
    head: str
    at: datetime
    window: int
    breaks: int = 0
    by_lot: bool = False


def sha(number: int) -> str:
    """A commit's name."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:40]


def story(size: Size, now: datetime) -> Iterator[SeededRun]:
    """The runs in the order they were opened, the last one just now."""
    chance = Random(7)  # noqa: S311  # a story, no secret
    pushes, audited, seen = 0, 0, (0, 0)
    step = timedelta(days=_DAYS) / size.runs
    audit_every = max(2, size.runs // _DAYS)
    for number in range(1, size.runs + 1):
        at, window = now - step * (size.runs - number), 7 * number
        breaks = chance.choice((0, 0, 0, 0, 0, 0, 1, 3))
        if number % audit_every == 0 and pushes > audited:
            # It finds what the last push that broke something broke, and at times a test more.
            found = seen[1] + chance.choice((0, 0, 1)) if seen[1] else 0
            yield SeededRun(number, Trigger.AUDIT, None, sha(audited), sha(pushes), at, seen[0], found)
            audited, seen = pushes, (0, 0)
        elif number % 3 == 0:
            pushes += 1
            by_lot = chance.random() < 0.2
            seen = (window, breaks) if breaks else seen
            yield SeededRun(number, Trigger.WEBHOOK, None, sha(pushes - 1), sha(pushes), at, window, breaks, by_lot)
        else:
            pull = 1 + number % 900
            yield SeededRun(number, Trigger.WEBHOOK, pull, sha(pushes), sha(10**6 + number), at, window, breaks)


def runs(told: list[SeededRun]) -> Iterator[Row]:
    """Finished, but the last ones."""
    for run in told:
        open_ = run.id > len(told) - 4
        yield {
            "id": run.id,
            "identity": f"seed:{run.id}",
            "repo": REPO,
            "kind": "push" if run.pr is None else "pull_request",
            "pr_number": run.pr,
            "title": f"{_TITLES[run.id % len(_TITLES)]} (#{run.id})",
            "body": "" if run.pr is None else "Why this is so. " * 40,
            "base_ref": "main",
            "base_sha": run.base,
            "head_sha": run.head,
            "tested_base_sha": run.base,
            "device": DEVICE,
            "trigger": run.trigger,
            "full": "an audit runs every test" if run.trigger is Trigger.AUDIT else "",
            "state": RunState.RUNNING if open_ else RunState.FINISHED,
            "conclusion": None if open_ else Conclusion.FAILURE if run.breaks else Conclusion.SUCCESS,
            "headline": "" if open_ else f"{run.breaks} tests break with this change.",
            "selection_state": "full" if run.trigger is Trigger.AUDIT else "selected",
            "created_at": run.at,
            "started_at": run.at,
            "finished_at": None if open_ else run.at + timedelta(minutes=9),
        }


def shards(told: list[SeededRun], now: datetime) -> Iterator[Row]:
    """The selection and one shard of tests for each run."""
    for run in told:
        open_ = run.id > len(told) - 4
        for ordinal, kind in enumerate((ShardKind.SELECT, ShardKind.TEST)):
            busy = open_ and kind is ShardKind.TEST
            yield {
                "id": 2 * run.id + ordinal - 1,
                "run_id": run.id,
                "ordinal": ordinal,
                "kind": kind,
                "state": ShardState.LEASED if busy else ShardState.DONE,
                "attempt": 1,
                "lease_id": f"lease-{run.id}-{ordinal}",
                "lease_worker": f"worker-{run.id % _WORKERS}",
                "lease_expires_at": now + timedelta(seconds=30) if busy else run.at,
            }


def workers(now: datetime) -> Iterator[Row]:
    """All that took part, each there and waiting, and two versions of torch among them."""
    for number in range(_WORKERS):
        torch = {"name": "default", "torch_version": "2.12.1" if number == 1 else "2.13.0", "python_version": "3.11.7"}
        yield {
            "id": number + 1,
            "name": f"worker-{number}",
            "device": DEVICE,
            "process": f"process-{number}",
            "version": "0.1.0",
            "concurrency": 1,
            "sandbox": "bubblewrap",
            "manifest_profile": "compat",
            "environments": [torch],
            "started_at": now - timedelta(hours=3),
            "seen_at": now - timedelta(seconds=number),
        }


def tests(told: list[SeededRun], size: Size) -> Iterator[Row]:
    """A window of all tests for each run: the first ones broken, one excused that passes."""
    pool = [_names(number) for number in range(_FILES * _PER_FILE)]
    for run in told:
        for place in range(size.tests):
            test_id, file, base = pool[(run.window + place) % len(pool)]
            verdict, seen = _outcome(run, place)
            open_ = run.id > len(told) - 4 and place > size.tests // 2
            yield {
                "id": _test_key(run, place, size),
                "run_id": run.id,
                "shard_id": 2 * run.id,
                "test_id": test_id,
                "file": file,
                "base": base,
                "expected": Expected.XFAIL if verdict is Verdict.XPASS else Expected.MANDATORY_SUCCESS,
                "rule": "listed",
                "provenance": "operators.yaml:12",
                "by_lot": run.by_lot and (place < 3 or place >= size.tests - 50),
                "missed": run.by_lot and place < min(run.breaks, 3),
                "verdict": None if open_ else verdict,
                "observation": None if open_ else seen,
                "duration_s": None if open_ else 0.02 + place % 50 / 100,
                "detail": "AssertionError: Tensor-likes are not close!" if seen is Observation.FAILED else "",
            }


def attempts(told: list[SeededRun], size: Size) -> Iterator[Row]:
    """One for each test, and for broken ones a second and one on base."""
    number = 0
    for run in told:
        for place in range(size.tests):
            seen = _outcome(run, place)[1]
            tries = [(Tree.HEAD, 1, seen)]
            if place < run.breaks:
                tries += [(Tree.HEAD, 2, seen), (Tree.BASE, 1, Observation.PASSED)]
            for tree, order, observation in tries:
                number += 1
                yield {
                    "id": number,
                    "planned_test_id": _test_key(run, place, size),
                    "tree": tree,
                    "number": order,
                    "observation": observation,
                    "duration_s": 0.02 + place % 50 / 100,
                }


def selections(told: list[SeededRun], size: Size) -> Iterator[Row]:
    """The documents are made and compressed a few times only; each run has one of them."""
    documents = [_documents(number, size) for number in range(_DOCUMENTS)]
    for run in told:
        saved = 0.0 if run.trigger is Trigger.AUDIT else 4_000.0 + run.id % 900
        yield documents[run.id % _DOCUMENTS] | {
            "run_id": run.id,
            "kept": size.considered // 3,
            "dropped": size.considered - size.considered // 3,
            "plan_key": sha(run.id),
            "expected_seconds": 600.0 + run.id % 300,
            "seconds_saved": saved,
        }


def events(told: list[SeededRun]) -> Iterator[Row]:
    """A line for each step of a run and of its shards; audits are settled."""
    number = 0
    for run in told:
        for seconds, kind, text in _history(run, open_=run.id > len(told) - 4):
            number += 1
            at = run.at + timedelta(seconds=seconds)
            yield {"id": number, "run_id": run.id, "at": at, "kind": kind, "text": text or f"Run {run.id}: {kind}"}


def _history(run: SeededRun, *, open_: bool) -> Iterator[tuple[int, str, str]]:
    """Seconds after the arrival, kind and text of each line; the second shard is lost once now and then."""
    worker = f"worker-{run.id % _WORKERS}"
    yield 0, "run.received", ""
    yield 5, "shard.leased", shard_lines.leased(0, "select", worker, 1)
    yield 5, "run.selecting", ""
    yield 95, "run.planned", ""
    yield 95, "shard.done", shard_lines.selected(worker)
    yield 110, "shard.leased", shard_lines.leased(1, "test", worker, 1)
    yield 110, "run.running", ""
    if run.id % 7 == 0:
        yield 170, "shard.due", shard_lines.due_again(1, 1, 3, f"no heartbeat from worker {worker}")
        yield 180, "shard.leased", shard_lines.leased(1, "test", worker, 2)
    for place in range(10):
        yield 210 + 30 * place, "tests.reported", shard_lines.reported(20, 1)
    if not open_:
        yield 540, "shard.done", shard_lines.done(1)
        yield 540, "run.finished", ""
    if run.trigger is Trigger.AUDIT:
        yield 540, SETTLED, ""


def _test_key(run: SeededRun, place: int, size: Size) -> int:
    return (run.id - 1) * size.tests + place + 1


def _outcome(run: SeededRun, place: int) -> tuple[Verdict, Observation]:
    if place < run.breaks:
        return Verdict.REGRESSION, Observation.FAILED
    if place == 10 and run.id % 5 == 0:
        return Verdict.XPASS, Observation.PASSED
    return (Verdict.FLAKY if place == 11 and run.id % 9 == 0 else Verdict.OK), Observation.PASSED


def _names(number: int) -> tuple[str, str, str]:
    """A collected test: its id, its file, its base test."""
    file, method = f"test/test_seeded_{number // _PER_FILE}.py", f"test_operator_{number % _PER_FILE}"
    return f"{file}::TestSeededSPYRE::{method}_spyre_float32", file, f"{file}::TestSeeded::{method}"


def _documents(number: int, size: Size) -> Row:
    kept = size.considered // 3
    reasons = [
        {
            "stage": 2,
            "rule": "imports",
            "evidence": f"imports torch.seeded_{number}, which the change edits",
            "score": 0.6,
        },
        {"stage": 3, "rule": "lexical rank", "evidence": "ranked by words in common", "score": 0.4},
    ]
    decisions = [
        {"test": _names((number * 31 + place) % (_FILES * _PER_FILE))[2], "kept": place < kept, "must_run": False,
         "reasons": reasons, "seconds": 1.5, "probability": 0.1}
        for place in range(size.considered)
    ]  # fmt: skip  # one decision, read as one
    funnel = [
        {"stage": stage, "name": name, "entered": 4 * size.considered // stage, "left": 2 * size.considered // stage,
         "unit": "base tests", "summary": "as it was made up"}
        for stage, name in enumerate(("Change", "Ownership", "Triage", "Manifests"), start=1)
    ]  # fmt: skip  # one step, read as one
    path = f"torch/seeded_{number}.py"
    changed = [{"path": path, "status": "modified", "category": "python source", "symbols": ["f"]}]
    filtered = [
        {"id": f"x{place}", "base": decisions[place]["test"], "rule": "dtype_unsupported", "provenance": "a.yaml:3"}
        for place in range(size.considered // 10)
    ]
    return {
        "decisions": _zipped(decisions),
        "funnel": _zipped(funnel),
        "changed_files": _zipped(changed),
        "filtered": _zipped(filtered),
        "notes": _zipped([]),
    }


def _zipped(value: object) -> Written:
    """As `relay.store.columns.ZippedJson` stores it."""
    return Written(zlib.compress(json.dumps(value, separators=(",", ":")).encode(), level=6))
