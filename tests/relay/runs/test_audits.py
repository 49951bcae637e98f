"""Audits: what broke between two of them is held against the plans of the changes in between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import time, timedelta
from itertools import count

import pytest
from fastapi.testclient import TestClient

from relay.audit_views import AuditOutcome, AuditPage, AuditState, AuditView
from relay.background import create_sweeper
from relay.context import RelayContext
from relay.contract import Decision, Observation, ReasonMessage
from relay.errors import ConflictError
from relay.runs.audit_listing import audit_view
from relay.runs.audits import advance_audit, open_audit, open_daily_audit, unsettled_audits
from relay.runs.creation import NewRun, cancel_run, open_run
from relay.runs.misses import missed_with
from relay.store.engine import Store
from relay.store.models import Run, Trigger
from tests.relay.worker_story import (
    DEVICE,
    NOW,
    end,
    lease,
    must_lease,
    names,
    post_results,
    post_selection,
    report,
    result,
    results,
)

REPO = "pytorch/pytorch"
BASE = "test/test_ops.py::TestOps::test_add"
FIRST, SECOND, THIRD = ("1" * 40, "2" * 40, "3" * 40)
_numbers = count(1)


def push(
    store: Store,
    before: str,
    after: str,
    *,
    planned: int,
    probability: float = 0.0,
    broken: int = 0,
    decision: Decision | None = None,
) -> int:
    """A push whose selection planned the first tests, of which the first `broken` broke; the others it left out."""
    new = NewRun(
        identity=f"push:{next(_numbers)}",
        repo=REPO,
        kind="push",
        base_sha=before,
        head_sha=after,
        device=DEVICE,
        trigger=Trigger.WEBHOOK,
        base_ref="refs/heads/main",
        fetch_ref="refs/heads/main",
    )
    with store.writing() as session:
        run_id = open_run(session, new, NOW).id
    plan = report([names(planned)])
    left_out = decision or Decision(test=BASE, kept=False, reasons=(), probability=probability)
    post_selection(store, must_lease(store), plan.model_copy(update={"decisions": (left_out,)}))
    run_tests(store, broken)
    return run_id


def run_tests(store: Store, broken: int) -> None:
    """A worker runs the shard that is due; the first tests fail, and passed without the change."""
    leased = must_lease(store)
    done = [
        result(test.test_id, *([Observation.FAILED] * 2), base=Observation.PASSED)
        if place < broken
        else result(test.test_id, Observation.PASSED)
        for place, test in enumerate(leased.tests)
    ]
    post_results(store, leased, results(leased, done))
    end(store, leased)


def audit(store: Store, total: int, broken: int) -> int:
    """A whole audit that finds the first tests newly broken."""
    with store.writing() as session:
        audit_id = open_audit(session, REPO, DEVICE, NOW).id
    post_selection(store, must_lease(store), report([names(total)]))
    run_tests(store, broken)
    return audit_id


def advance(store: Store, audit_id: int) -> bool:
    with store.writing() as session:
        return advance_audit(session, audit_id, NOW)


def answer(store: Store, broken: int) -> int:
    """A worker does the confirming run that is due; the run it asks about."""
    leased = must_lease(store)
    assert leased.run.trigger is Trigger.CONFIRM
    asked = leased.run.rerun_of
    assert asked is not None
    post_selection(store, leased, report([leased.run.only]))
    run_tests(store, broken)
    return asked


def seen(store: Store, audit_id: int) -> AuditView:
    with store.reading() as session:
        return audit_view(session, audit_id)


def test_the_most_probable_change_is_asked_first_until_one_says_yes(store: Store) -> None:
    """A miss names the run that left the test out."""
    unlikely = push(store, FIRST, SECOND, planned=1, probability=0.1)
    likely = push(store, SECOND, THIRD, planned=1, probability=0.7)
    with store.writing() as session:
        audit_id = open_audit(session, REPO, DEVICE, NOW).id
    post_selection(store, must_lease(store), report([names(2)[1:]]))
    run_tests(store, 1)
    assert advance(store, audit_id)
    assert not advance(store, audit_id)  # the question is open: nothing to do
    assert answer(store, broken=0) == likely
    assert advance(store, audit_id)
    assert seen(store, audit_id).state is AuditState.CONFIRMING
    assert answer(store, broken=1) == unlikely
    advance(store, audit_id)
    view = seen(store, audit_id)
    assert (view.state, view.false_green_rate) == (AuditState.SETTLED, 1.0)
    assert [(test.outcome, test.missed_by, test.asked) for test in view.tests] == [
        (AuditOutcome.MISSED, unlikely, 2),
    ]
    assert view.head_sha == THIRD
    with store.reading() as session:
        kept = [(edge.base_test, edge.run_id) for edge in missed_with(session, DEVICE, ["torch/_refs.py"])]
    assert kept == [(BASE, unlikely)]


def test_what_a_change_reported_itself_is_caught(store: Store) -> None:
    """Nobody is asked, and the audit is settled at once."""
    push(store, FIRST, SECOND, planned=1, broken=1)
    audit_id = audit(store, total=2, broken=1)
    assert advance(store, audit_id) is False
    view = seen(store, audit_id)
    assert [test.outcome for test in view.tests] == [AuditOutcome.CAUGHT]
    assert (view.state, view.false_green_rate) == (AuditState.SETTLED, 0.0)
    with store.reading() as session:
        assert unsettled_audits(session) == ()


def test_what_a_change_drew_by_lot_and_saw_break_is_its_miss(store: Store) -> None:
    """Nobody has to be asked."""
    by_lot = Decision(test=BASE, kept=True, reasons=(ReasonMessage(stage=4, rule="holdout", evidence="by lot"),))
    pushed = push(store, FIRST, SECOND, planned=1, broken=1, decision=by_lot)
    audit_id = audit(store, total=2, broken=1)
    assert advance(store, audit_id) is False
    assert [(test.outcome, test.missed_by) for test in seen(store, audit_id).tests] == [(AuditOutcome.MISSED, pushed)]


def test_what_no_change_alone_broke_stays_unexplained(store: Store) -> None:
    push(store, FIRST, SECOND, planned=1)
    with store.writing() as session:
        audit_id = open_audit(session, REPO, DEVICE, NOW).id
    post_selection(store, must_lease(store), report([names(2)[1:]]))
    run_tests(store, 1)
    assert advance(store, audit_id)
    answer(store, broken=0)
    assert not advance(store, audit_id)
    assert [test.outcome for test in seen(store, audit_id).tests] == [AuditOutcome.UNEXPLAINED]


def test_the_next_audit_starts_where_the_last_one_ended_and_asks_only_later_changes(store: Store) -> None:
    push(store, FIRST, SECOND, planned=1)
    audit(store, total=1, broken=0)
    later_push = push(store, SECOND, THIRD, planned=1)
    with store.writing() as session:
        second = open_audit(session, REPO, DEVICE, NOW)
        assert (second.base_sha, second.head_sha) == (SECOND, THIRD)
        assert second.full
        audit_id = second.id
    post_selection(store, must_lease(store), report([names(2)[1:]]))
    run_tests(store, 1)
    assert advance(store, audit_id)
    assert answer(store, broken=0) == later_push
    assert advance(store, audit_id) is False


def test_two_sweepers_ask_once(store: Store) -> None:
    push(store, FIRST, SECOND, planned=1)
    with store.writing() as session:
        audit_id = open_audit(session, REPO, DEVICE, NOW).id
    post_selection(store, must_lease(store), report([names(2)[1:]]))
    run_tests(store, 1)
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda _: advance(store, audit_id), range(4))) == [False, False, False, True]
    must_lease(store)
    assert lease(store) is None


def test_nothing_pushed_is_nothing_to_audit(store: Store) -> None:
    with store.writing() as session, pytest.raises(ConflictError, match="No push"):
        open_audit(session, REPO, DEVICE, NOW)
    push(store, FIRST, SECOND, planned=1)
    audit(store, total=1, broken=0)
    with store.writing() as session, pytest.raises(ConflictError, match="already"):
        open_audit(session, REPO, DEVICE, NOW)


def test_an_audit_that_was_called_off_can_be_had_again(store: Store) -> None:
    push(store, FIRST, SECOND, planned=1)
    with store.writing() as session:
        first = open_audit(session, REPO, DEVICE, NOW).id
        cancel_run(session, first, NOW, "stopped")
        again = open_audit(session, REPO, DEVICE, NOW)
        assert (again.id != first, again.base_sha) == (True, FIRST)
    assert seen(store, first).state is AuditState.CALLED_OFF


def test_the_clock_opens_one_audit_a_day(store: Store) -> None:
    """At its hour or later, never before, and none when nothing was pushed."""

    def tick(hours: float) -> Run | None:
        with store.writing() as session:
            return open_daily_audit(session, REPO, DEVICE, time(13), NOW + timedelta(hours=hours))

    assert tick(0) is None  # nothing is pushed yet
    push(store, FIRST, SECOND, planned=1)
    assert tick(0.5) is not None
    assert tick(0.6) is None
    assert tick(1.5) is None  # the next day's, and nothing was pushed since


def test_the_page_names_the_selection_that_missed(context: RelayContext, client: TestClient) -> None:
    """And without an audit it says how to have one."""
    assert "relay audit start" in client.get("/audits").text
    by_lot = Decision(test=BASE, kept=True, reasons=(ReasonMessage(stage=4, rule="holdout", evidence="by lot"),))
    pushed = push(context.store, FIRST, SECOND, planned=1, broken=1, decision=by_lot)
    audit_id = audit(context.store, total=2, broken=1)
    advance(context.store, audit_id)
    page = client.get("/audits").text
    assert "a selection missed a break: 1 newly broken, 1 missed by a selection, 100.0% false green" in page
    assert f'left out by <a href="/runs/{pushed}">' in page


def test_audits_over_http(context: RelayContext, client: TestClient, operator_auth: dict[str, str]) -> None:
    """An operator starts one, everybody reads."""
    assert client.post("/api/v1/audits").status_code == 401
    assert client.post("/api/v1/audits", headers=operator_auth).status_code == 409
    push(context.store, FIRST, SECOND, planned=1)
    started = client.post("/api/v1/audits", headers=operator_auth)
    view = AuditView.model_validate_json(started.text)
    assert (started.status_code, view.state, view.head_sha) == (201, AuditState.RUNNING, SECOND)
    page = AuditPage.model_validate_json(client.get("/api/v1/audits").text)
    assert [audit.id for audit in page.audits] == [view.id]
    assert AuditView.model_validate_json(client.get(f"/api/v1/audits/{view.id}").text) == view
    assert client.get(f"/api/v1/audits/{view.id - 1}").status_code == 404
    other = client.post("/api/v1/audits?device=quartz", headers=operator_auth)
    assert (other.status_code, other.json()["message"]) == (404, "The device quartz is not served here.")
    object.__setattr__(context, "backends", (*context.backends, replace(context.backends[0], device="quartz")))
    other = client.post("/api/v1/audits?device=quartz", headers=operator_auth)
    assert (other.status_code, other.json()["code"]) == (409, "nothing_to_audit")  # nothing was pushed for it


def test_the_sweep_settles_a_finished_audit(context: RelayContext) -> None:
    """Nobody has to ask for it, and what sweeps once more changes nothing."""
    push(context.store, FIRST, SECOND, planned=1, broken=1)
    audit_id = audit(context.store, total=2, broken=1)
    for _ in range(2):
        create_sweeper(context).sweep()
        assert seen(context.store, audit_id).state is AuditState.SETTLED
