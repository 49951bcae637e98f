"""Effects of a callback: all three in one transaction, none of them asked of a backend that reports nothing new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.effects import Effects, apply, apply_self_report, finish
from relay.errors import ConflictError
from relay.store.crcr_models import BackendJob, CrcrResult, OutboxKind
from relay.store.engine import Store
from tests.conformance.payloads import S1, callback, nightly
from tests.relay.crcr.stage import Stage, completed, staged


@pytest.fixture
def stage(context: RelayContext, store: Store) -> Iterator[Stage]:
    """A record, with an external HUD in its settings."""
    with staged(replace(context, store=store)) as made:
        made.set(hud_url="https://hud.example/api")
        yield made


def taken(stage: Stage, job: BackendJob, level: Level = Level.L4, **changes: Any) -> Effects:
    """A job's last callback takes effect."""
    with stage.context.store.writing() as session:
        session.add(job)
        session.flush()
        body: Mapping[str, Any] = {**job.callback, **changes}
        return apply(session, stage.context.settings, job, body, level=level, now=stage.clock())


def results(stage: Stage) -> list[CrcrResult]:
    """The rows of our own results store."""
    with stage.context.store.reading() as session:
        return list(session.scalars(select(CrcrResult).order_by(CrcrResult.id)))


def test_a_callback_is_recorded_shown_and_forwarded(stage: Stage) -> None:
    """Each once."""
    effects = taken(stage, completed(stage.clock(), "failure"))
    assert [(row.conclusion, row.execution_time) for row in results(stage)] == [("failure", 60.0)]
    (check,), (post,) = stage.queued(OutboxKind.CHECK_RUN), stage.queued(OutboxKind.HUD)
    assert check.body["check"]["conclusion"] == "failure"
    assert post.body == effects.envelope


def test_nothing_of_it_stays_when_the_transaction_fails(stage: Stage) -> None:
    """State and effects are one."""

    def fail_after_it() -> None:
        with stage.context.store.writing() as session:
            job = completed(stage.clock())
            session.add(job)
            session.flush()
            apply(session, stage.context.settings, job, job.callback, level=Level.L4, now=stage.clock())
            raise ConflictError("something else in the transaction failed")

    with pytest.raises(ConflictError):
        fail_after_it()
    assert (results(stage), stage.queued(OutboxKind.CHECK_RUN), stage.queued(OutboxKind.HUD)) == ([], [], [])


def test_a_job_without_a_check_of_its_own_is_recorded_all_the_same(stage: Stage) -> None:
    """The name that the public reporter gives stands in; the copy for another HUD stays as it came."""
    workflow = {key: value for key, value in callback()["workflow"].items() if key != "check_run_id"}
    taken(stage, stage_job(stage, workflow), workflow=workflow)
    assert [row.check_run_id for row in results(stage)] == ["100-1"]
    assert "check_run_id" not in stage.queued(OutboxKind.HUD)[0].body["untrusted"]["callback_payload"]["workflow"]


def stage_job(stage: Stage, workflow: Mapping[str, Any]) -> BackendJob:
    """A job that ended, whose callback has this workflow."""
    return completed(stage.clock(), callback={**callback("completed"), "workflow": dict(workflow)})


def test_a_report_that_names_no_row_is_no_reason_to_refuse_it(stage: Stage) -> None:
    """The strict mode takes a job without a name, which the results store does not."""
    stage.set(crcr_strict_compat=True)
    workflow = callback(job_name=...)["workflow"]
    taken(stage, stage_job(stage, workflow), workflow=workflow)
    assert results(stage) == []
    assert len(stage.queued(OutboxKind.CHECK_RUN)) == 1


def test_a_verdict_is_kept_with_the_result(stage: Stage) -> None:
    """It was checked at the door."""
    verdict = {"schema_version": 1, "category": "infra", "confidence": "low", "summary": "the runner died"}
    workflow = callback("completed", triage_verdict=verdict)["workflow"]
    taken(stage, stage_job(stage, workflow), workflow=workflow)
    assert [row.triage_verdict for row in results(stage)] == [verdict]


@pytest.mark.parametrize(("strict", "planned"), [(False, True), (True, False)])
def test_an_end_is_looked_up_later(stage: Stage, strict: bool, planned: bool) -> None:
    """The original never does."""
    stage.set(crcr_strict_compat=strict)
    job = completed(stage.clock())
    taken(stage, job)
    assert (stage.job(job.id).deadline_at is not None) is planned


def test_a_scheduled_report_is_recorded_and_forwarded_only(stage: Stage) -> None:
    """Without metrics, and with no check run; the same again is one copy."""
    for _ in range(2):
        with stage.context.store.writing() as session:
            apply_self_report(session, stage.context.settings, "a/l4", nightly(), level=Level.L4, now=stage.clock())
    (row,), (post,) = results(stage), stage.queued(OutboxKind.HUD)
    assert (row.event_type, row.pytorch_head_sha, row.execution_time) == ("nightly", S1, None)
    assert post.body["trusted"]["ci_metrics"] == {"queue_time": None, "execution_time": None}
    assert stage.queued(OutboxKind.CHECK_RUN) == []


def test_scheduled_reports_of_one_job_keep_their_order(stage: Stage) -> None:
    """Those of others need not wait for them."""
    with stage.context.store.writing() as session:
        for report in (nightly(), nightly(conclusion="failure"), nightly(job_name="test")):
            apply_self_report(session, stage.context.settings, "a/l4", report, level=Level.L4, now=stage.clock())
    first, second, third = (row.lane for row in stage.queued(OutboxKind.HUD))
    assert first == second != third


def test_after_the_commit_nothing_is_left_to_do(stage: Stage) -> None:
    """A HUD that is not there is the outbox's matter: the backend never waits for it."""
    finish(stage.context, taken(stage, completed(stage.clock())))
