"""The sentences of *Now* agree with their numbers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relay.contract import TestedOn
from relay.now_views import (
    DeviceNow,
    Expectation,
    ExpectedBy,
    NowView,
    RunNow,
    ShardsNow,
    TraitValue,
    WorkerAbout,
    WorkerDifference,
    WorkerNow,
    WorkerState,
)
from relay.views import RunState, RunSummary
from relay.web import now_words as words

AT = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
RUN = RunSummary(
    id=1,
    repo="pytorch/pytorch",
    pr_number=7,
    title="",
    base_sha="b" * 40,
    head_sha="a" * 40,
    device="spyre",
    trigger="webhook",
    attempt=1,
    rerun_of=None,
    state=RunState.RUNNING,
    conclusion=None,
    headline="",
    planned=0,
    reported=0,
    verdicts={},
    created_at=AT,
    started_at=AT,
    finished_at=None,
    url="",
)


def run(elapsed_s: float = 0.0, expected_s: float | None = None, **more: object) -> RunNow:
    expected = None if expected_s is None else Expectation(seconds=expected_s, runs=4, by=ExpectedBy.KIND)
    state = RunNow(run=RUN, elapsed_s=elapsed_s, expected=expected, shards=ShardsNow(), workers=())
    return state.model_copy(update=more)


def worker(state: WorkerState, **more: object) -> WorkerNow:
    leased = state in {WORKING, SILENT}
    seen = WorkerNow(name="w", device="spyre", state=state, seen_at=AT, leased=leased, run_id=1, kind="test", attempt=1)
    return seen.model_copy(update=more)


def about(*versions: str, **more: object) -> WorkerAbout:
    environments = tuple(
        TestedOn(name=f"env{n}", torch_version=version, python_version="3.11.7", device_profile="compat")
        for n, version in enumerate(versions)
    )
    said = WorkerAbout(version="1", sandbox="bubblewrap", environments=environments, started_at=AT)
    return said.model_copy(update=more)


def device(running: int, queued: int, *states: WorkerState) -> DeviceNow:
    return DeviceNow(
        device="spyre",
        running=(run(),) * running,
        queued=(),
        queued_total=queued,
        workers=tuple(map(worker, states)),
    )


WORKING, SILENT, IDLE, UNABLE = WorkerState.WORKING, WorkerState.SILENT, WorkerState.IDLE, WorkerState.UNABLE


@pytest.mark.parametrize(
    ("shown", "sentence"),
    [
        (device(0, 0), "Nothing to do; no worker seen in the last day."),
        (device(0, 0, IDLE), "Nothing to do; 1 worker idle."),
        (device(1, 0, WORKING), "1 run at work, 0 waiting; 1 worker at work."),
        (device(2, 3, WORKING, WORKING), "2 runs at work, 3 waiting; 2 workers at work."),
        (device(2, 3, WORKING, SILENT, IDLE), "2 runs at work, 3 waiting; workers: 1 at work, 1 idle, 1 silent."),
        (device(0, 1, UNABLE), "0 runs at work, 1 waiting; 1 worker cannot work."),
    ],
)
def test_a_device_in_one_line(shown: DeviceNow, sentence: str) -> None:
    assert words.summary(shown) == sentence


@pytest.mark.parametrize(
    ("shown", "sentence"),
    [
        (device(0, 0), ""),
        (device(1, 4, WORKING), ""),
        (device(0, 1, IDLE), "1 run waits and no worker is at work on spyre."),
        (device(1, 2, SILENT), "2 runs wait and no worker is at work on spyre."),
        (device(0, 1, UNABLE), "1 run waits and no worker is at work on spyre, and w cannot: see below."),
        (device(1, 1, UNABLE, WORKING), ""),
    ],
)
def test_waiting_without_a_worker_is_trouble(shown: DeviceNow, sentence: str) -> None:
    assert words.trouble(shown) == sentence


def test_time_is_told_with_what_is_expected() -> None:
    assert words.timing(run(250.0)) == "4 min 10 s so far"
    assert words.timing(run(250.0, 360.0)) == "4 min 10 s of about 6 min 0 s"
    assert words.overdue(run(360.0, 360.0)) is None
    assert words.overdue(run(400.0, 360.0)) is words.OVERDUE
    assert words.overdue(run(400.0)) is None


def test_an_expectation_says_where_it_is_from() -> None:
    assert words.basis(None) == "no finished run to compare with yet"
    one = Expectation(seconds=1, runs=1, by=ExpectedBy.DEVICE)
    assert words.basis(one) == "expected: the median of 1 past run on this device"
    assert (
        words.basis(one.model_copy(update={"by": ExpectedBy.PLAN, "runs": 9}))
        == "expected: from its plan and 9 past runs"
    )


def test_when_a_waiting_run_starts() -> None:
    assert words.starts(run()) == "no guess when it starts"
    assert words.starts(run(starts_in_s=0.0)) == "starts when a worker asks"
    assert words.starts(run(starts_in_s=75.0)) == "starts in about 1 min 15 s"
    assert words.lasts(run()) == ""
    assert words.lasts(run(0.0, 20.0)) == "then takes about 20 s"


def test_shards_are_counted() -> None:
    assert words.shards(run(shards=ShardsNow(at_work=1))) == "0 of 1 shard done, 1 at work"
    several = ShardsNow(waiting=2, at_work=1, ended=3)
    assert words.shards(run(shards=several)) == "3 of 6 shards done, 1 at work, 2 waiting"


def test_what_a_worker_does() -> None:
    assert words.doing(worker(WORKING)) == "runs tests of"
    assert words.doing(worker(WORKING, kind="select")) == "chooses tests for"
    assert words.doing(worker(SILENT, attempt=2)) == "runs tests of (attempt 2)"
    assert words.doing(worker(IDLE)) == "last on"


def test_a_worker_that_waits_or_fell_silent_while_it_waited_has_only_a_past() -> None:
    assert words.doing(worker(IDLE, run_id=None)) == "has not worked on a run yet"
    assert words.doing(worker(SILENT, leased=False)) == "last on"


def test_a_worker_of_several_slots_tells_how_much_it_does() -> None:
    told = [words.besides(worker(WORKING, leases=leases)) for leases in range(4)]
    assert told == ["", "", "and 1 more shard", "and 2 more shards"]


def test_a_worker_that_says_nothing_while_it_waits_may_be_gone() -> None:
    assert words.last_word(worker(IDLE)) == "may be gone; last seen"
    assert words.last_word(worker(IDLE, about=about("2.13.0"))) == "last heartbeat"
    assert words.last_word(worker(WORKING)) == "last heartbeat"


def test_workers_that_idle_beside_waiting_runs_are_not_to_be_started_once_more() -> None:
    idle = device(0, 1).model_copy(update={"workers": (worker(IDLE, about=about("2.13.0")),)})
    assert words.trouble(idle) == (
        "1 run waits and no worker is at work on spyre, though 1 worker is there and idle: it may not hear the broker."
    )
    assert (words.advice(idle), words.advice(device(0, 1, SILENT))) == ("relay doctor", "relay worker")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (None, ""),
        (about(), "no environment it can test in, bubblewrap"),
        (about("2.13.0"), "torch 2.13.0, Python 3.11.7, profile compat, bubblewrap"),
        (about("2.13.0", "2.12.1"), "torch 2.13.0, Python 3.11.7, profile compat and 1 more, bubblewrap"),
        (
            about("2.13.0", sandbox="landlock: bubblewrap is not installed"),
            "torch 2.13.0, Python 3.11.7, profile compat, ⚠ no whole sandbox (landlock)",
        ),
        (
            about("2.13.0", sandbox="none: bubblewrap is not installed", concurrency=3),
            "torch 2.13.0, Python 3.11.7, profile compat, ⚠ no sandbox, 3 shards at a time",
        ),
    ],
)
def test_what_a_worker_tests_with(said: WorkerAbout | None, sentence: str) -> None:
    assert words.tests_with(worker(IDLE, about=said)) == sentence


def test_a_difference_names_values_and_workers() -> None:
    many = tuple(f"w{n}" for n in range(7))
    found = WorkerDifference(
        device="spyre",
        trait="torch",
        values=(TraitValue(value="2.13.0", workers=many), TraitValue(value="2.12.1", workers=("x",))),
    )
    assert words.difference(found) == "torch: 2.13.0 (w0, w1, w2, w3, w4 and 2 more), 2.12.1 (x)"


def test_a_screen_reader_hears_of_all_devices() -> None:
    board = NowView(devices=(device(1, 2), device(1, 1)), last_event=0)
    assert words.announcement(board) == "2 runs at work, 3 waiting"
