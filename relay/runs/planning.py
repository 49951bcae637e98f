"""From a selection report to rows: the documents, the planned tests and the shards that will run them.

Owns the check that a report fits together, so that every planned test is in exactly one shard by construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import insert
from sqlalchemy.orm import Session

from relay.contract import Message, PlannedTestMessage, SelectionReport, ShardKind, can_be_recorded
from relay.errors import BadMessageError
from relay.runs.endings import finish
from relay.runs.states import transition
from relay.store.models import PlannedTest, Run, Selection, Shard, ShardState
from relay.views import RunState


def record_selection(session: Session, run: Run, report: SelectionReport, now: datetime) -> None:
    """Store the selection and move the run on: to `planned`, or to its end when there is nothing to run.

    Raises:
        BadMessageError: the plan and its shards do not name the same tests, each once.
    """
    planned = () if report.not_tested else report.planned
    _check(report)
    session.add(_documents(run, report))
    facts = {
        "selection_state": report.state,
        "tested_base_sha": report.tested_base_sha,
        "not_tested": report.not_tested.model_dump(mode="json") if report.not_tested else None,
        "tested_on": report.tested_on.model_dump(mode="json") if report.tested_on else None,
    }
    for name, value in facts.items():
        setattr(run, name, value)
    session.flush()
    if not planned:
        finish(session, run, now)
        return
    _plan(session, run, report)
    text = f"Planned {len(planned)} tests in {len(report.shards)} shards."
    transition(session, run, RunState.PLANNED, now, text)


def _check(report: SelectionReport) -> None:
    if report.not_tested and (report.planned or report.shards):
        raise BadMessageError("A run that is not tested has a plan.", "Report either the reason or a plan.")
    planned = Counter(test.id for test in report.planned)
    sharded = Counter(test for shard in report.shards for test in shard)
    if planned != sharded or any(count > 1 for count in planned.values()) or not all(report.shards):
        raise BadMessageError(
            f"The plan has {planned.total()} tests and its shards {sharded.total()}; they do not match one to one.",
            "Put every planned test into exactly one shard, and no empty shard.",
        )
    if report.shard_seconds and len(report.shard_seconds) != len(report.shards):
        raise BadMessageError(
            f"The plan has {len(report.shards)} shards and the seconds of {len(report.shard_seconds)}.",
            "Say of every shard how long it may take, or of none.",
        )
    for name in planned:
        if not can_be_recorded(name):
            raise BadMessageError(f"The test id {name[:80]!r} cannot be stored.", "Leave it out, and say so in a note.")


def _documents(run: Run, report: SelectionReport) -> Selection:
    kept = sum(decision.kept for decision in report.decisions)
    return Selection(
        run_id=run.id,
        kept=kept,
        dropped=len(report.decisions) - kept,
        funnel=_dumped(report.funnel),
        changed_files=_dumped(report.changed_files),
        decisions=_dumped(report.decisions),
        filtered=_dumped(report.filtered),
        notes=list(report.notes),
        plan_key=report.plan_key,
        expected_seconds=report.expected_seconds,
        seconds_saved=report.seconds_saved,
        expected_misses=report.expected_misses,
    )


def _dumped(messages: tuple[Message, ...]) -> list[dict[str, object]]:
    return [message.model_dump(mode="json") for message in messages]


def _plan(session: Session, run: Run, report: SelectionReport) -> None:
    by_id = {test.id: test for test in report.planned}
    by_lot = {decision.test for decision in report.decisions if decision.by_lot}
    seconds = report.shard_seconds or (0.0,) * len(report.shards)
    for ordinal, (names, expected_s) in enumerate(zip(report.shards, seconds, strict=True), start=1):
        shard = Shard(run_id=run.id, ordinal=ordinal, kind=ShardKind.TEST, state=ShardState.DUE, expected_s=expected_s)
        session.add(shard)
        session.flush()
        session.execute(insert(PlannedTest), [_row(shard, by_id[name], by_lot) for name in names])


def _row(shard: Shard, test: PlannedTestMessage, by_lot: Collection[str]) -> dict[str, object]:
    return {
        "run_id": shard.run_id,
        "shard_id": shard.id,
        "test_id": test.id,
        "file": test.file,
        "base": test.base,
        "expected": test.expected,
        "rule": test.rule,
        "provenance": test.provenance,
        "tags": list(test.tags),
        "isolate": test.isolate,
        "timeout_s": test.timeout_s,
        "op": test.op,
        "dtype": test.dtype,
        "by_lot": test.base in by_lot,
    }
