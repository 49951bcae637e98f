"""Rows of the results store: one for a job, whatever order its reports come in."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from relay.hud.errors import HudError
from relay.hud.recording import RecordedResult, record_result
from relay.store.crcr_models import CrcrResult, Dispatch, DispatchState
from relay.store.engine import Store
from tests.relay.hud.reports import SHA, envelope, pull

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
START = "2026-11-02T11:00:00Z"
END = "2026-11-02T11:30:00.250Z"


def _record(store: Store, *reports: dict[str, Any], now: datetime = NOW, **options: Any) -> list[RecordedResult]:
    with store.writing() as session:
        return [record_result(session, report, now, **options) for report in reports]


def _rows(store: Store) -> list[CrcrResult]:
    with store.reading() as session:
        return list(session.scalars(select(CrcrResult).order_by(CrcrResult.id)))


def test_an_end_keeps_what_the_start_told(store: Store) -> None:
    """The start brings the wait and the start's time, the end brings the rest."""
    _record(store, envelope("in_progress", started_at=START, queue_time=12.5))
    _record(store, envelope("completed", conclusion="success", completed_at=END, execution_time=3.25))
    (row,) = _rows(store)
    assert (row.status, row.conclusion, row.queue_time, row.execution_time) == ("completed", "success", 12.5, 3.25)
    assert row.started_at == datetime(2026, 11, 2, 11, tzinfo=UTC)
    assert row.completed_at == datetime(2026, 11, 2, 11, 30, 0, 250_000, tzinfo=UTC)


def test_a_start_that_comes_after_the_end_adds_and_does_not_reopen(store: Store) -> None:
    _record(store, envelope("completed", conclusion="failure", completed_at=END, check_run_id="2"))
    _record(store, envelope("in_progress", started_at=START, queue_time=4, check_run_id="1", conclusion="success"))
    (row,) = _rows(store)
    assert (row.status, row.conclusion, row.queue_time, row.check_run_id) == ("completed", "failure", 4, "2")
    assert row.started_at is not None


def test_a_later_end_replaces_an_earlier_one(store: Store) -> None:
    """What was only assumed gives way to what the backend says."""
    _record(store, envelope("completed", conclusion="timed_out", completed_at=START))
    _record(store, envelope("completed", conclusion="success", completed_at=END))
    (row,) = _rows(store)
    assert (row.conclusion, row.completed_at) == ("success", datetime(2026, 11, 2, 11, 30, 0, 250_000, tzinfo=UTC))


@pytest.mark.parametrize(
    "change",
    [
        {"repo": "a/other"},
        {"delivery": "d2"},
        {"name": "other"},
        {"job_name": "other"},
        {"run_id": "1"},
        {"run_attempt": 2},
    ],
)
def test_what_makes_another_job_makes_another_row(store: Store, change: dict[str, Any]) -> None:
    _record(store, envelope(), envelope(**change))
    assert len(_rows(store)) == 2


@pytest.mark.parametrize(
    "change", [{"check_run_id": "901"}, {"repo": "A/L2"}, {"url": "https://x.org/1"}, {"level": "L4"}]
)
def test_what_makes_no_other_job_makes_no_other_row(store: Store, change: dict[str, Any]) -> None:
    _record(store, envelope(), envelope(**change))
    assert len(_rows(store)) == 1


def test_separators_in_names_do_not_make_two_jobs_one(store: Store) -> None:
    _record(store, envelope(name="a/b", job_name="c"), envelope(name="a", job_name="b/c"))
    first, second = _rows(store)
    assert first.dynamo_key == second.dynamo_key
    assert first.identity != second.identity


def test_strict_keeps_a_row_for_each_check_run_and_the_latest_report(store: Store) -> None:
    _record(store, envelope("completed", conclusion="success"), envelope(check_run_id="901"), strict=True)
    _record(store, envelope("in_progress"), strict=True)
    assert [row.status for row in _rows(store)] == ["in_progress", "in_progress"]


def _dispatch(store: Store) -> None:
    """Our own delivery `d1` to `a/l2`, of pull request 7 at `SHA`."""
    sent = {"delivery_id": "d1", "repo": "a/l2", "repo_key": "a/l2", "level": "L2", "event_type": "pull_request"}
    about = {"upstream_repo": "up/stream", "pr_number": 7, "head_sha": SHA, "nonce": "", "queued_at": NOW}
    with store.writing() as session:
        session.add(Dispatch(state=DispatchState.DISPATCHED, **sent, **about))


@pytest.mark.parametrize("event", ["nightly", "periodic"])
def test_a_self_report_that_names_a_delivery_is_no_result_of_its_pull_request(store: Store, event: str) -> None:
    _dispatch(store)
    _record(store, envelope("completed", event=event, payload={"head_sha": "c" * 40}))
    (row,) = _rows(store)
    assert (row.pr_number, row.pytorch_head_sha, row.upstream_repo) == (0, "c" * 40, "pytorch/pytorch")


def test_our_own_delivery_tells_what_was_tested(store: Store) -> None:
    """A backend's echo of the pull request and the commit is not believed when the relay itself sent the delivery."""
    _dispatch(store)
    _record(store, envelope(payload=pull(8, "b" * 40, "else/where"), repo="A/L2"))
    (row,) = _rows(store)
    assert (row.upstream_repo, row.pr_number, row.pytorch_head_sha) == ("up/stream", 7, SHA)


@pytest.mark.parametrize(
    ("report", "listed_at"),
    [
        ({"status": "in_progress", "started_at": START}, datetime(2026, 11, 2, 11, tzinfo=UTC)),
        ({"status": "completed", "completed_at": START}, datetime(2026, 11, 2, 11, tzinfo=UTC)),
        ({"status": "completed"}, NOW),
        ({"status": "in_progress", "started_at": "2999-01-01T00:00:00Z"}, NOW),
        ({"status": "in_progress", "started_at": "yesterday"}, NOW),
    ],
)
def test_a_job_is_listed_by_the_best_that_is_known_of_its_start(
    store: Store, report: dict[str, Any], listed_at: datetime
) -> None:
    _record(store, envelope(**report))
    (row,) = _rows(store)
    assert row.listed_at == listed_at


def test_the_first_sight_of_a_job_stays(store: Store) -> None:
    _record(store, envelope())
    _record(store, envelope("completed"), now=NOW + timedelta(hours=1))
    (row,) = _rows(store)
    assert (row.first_seen_at, row.updated_at) == (NOW, NOW + timedelta(hours=1))


def test_a_valid_triage_verdict_is_kept(store: Store) -> None:
    _record(store, envelope("completed"), triage_verdict={"category": "infra"})
    _record(store, envelope("completed"))
    (row,) = _rows(store)
    assert row.triage_verdict == {"category": "infra"}


def test_the_answer_names_the_row(store: Store) -> None:
    (told,) = _record(store, envelope())
    assert (told.key, told.status) == ("a/l2/d1/CI/build/900", "in_progress")
    assert told.row_id == _rows(store)[0].id


def test_a_report_that_names_no_job_leaves_nothing(store: Store) -> None:
    with pytest.raises(HudError, match=r"workflow\.job_name"):
        _record(store, envelope(job_name=...))
    assert _rows(store) == []


def test_first_reports_at_the_same_time_make_one_row(store: Store) -> None:
    """Eight threads report starts and ends of one job at once."""
    gate = threading.Barrier(8)

    def report(number: int) -> None:
        gate.wait(30)
        _record(store, envelope("completed" if number % 2 else "in_progress", check_run_id=str(number)))

    threads = [threading.Thread(target=report, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(CrcrResult)) == 1
    assert _rows(store)[0].status == "completed"


def test_a_start_that_comes_while_the_end_is_being_kept_waits_for_it(store: Store) -> None:
    """What it knows of the row is what the end left there, not what was there before."""
    _record(store, envelope("in_progress", check_run_id="1"))
    late = threading.Thread(target=_record, args=(store, envelope("in_progress", check_run_id="3")))
    with store.writing() as session:
        record_result(session, envelope("completed", check_run_id="2"), NOW)
        late.start()
        # It must not get through, however long it is given.
        late.join(0.5)
        assert late.is_alive()
    late.join(60)
    (row,) = _rows(store)
    assert (row.status, row.check_run_id) == ("completed", "2")


@pytest.mark.parametrize("bad", ["\x00", "\ud800", "\x00" * 2000, "a" * 50_000])
def test_texts_that_no_column_takes_are_brought_into_form(store: Store, bad: str) -> None:
    """In every place of a report where a text may stand."""
    failed = [{"name": bad, "classname": bad, "message": bad}]
    names = ("conclusion", "url", "artifact_url", "started_at", "completed_at", "run_attempt", "check_run_id")
    texts: dict[str, Any] = dict.fromkeys(names, bad)
    report = envelope("completed", event=f"e{bad}", level=f"L{bad}", failed_tests_detail=failed, **texts)
    echoed = pull(7, f"a{bad}", f"b{bad}") | {"ref": bad, "after": bad, "head_sha": bad}
    report["untrusted"]["callback_payload"]["payload"] = echoed
    _record(store, report)
    assert len(_rows(store)) == 1
