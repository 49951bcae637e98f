"""A wake-up from lease to finish, over real HTTP and a real git repository, with a scripted device."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from relay.contract import (
    Change,
    Expected,
    LeaseRequest,
    LogKind,
    SelectOrder,
    ShardKind,
    ShardOutcome,
    TestedOn,
    TestOrder,
    Tree,
    TriageSettings,
)
from relay.trail.redaction import HIDDEN, Redactor
from selector.triage import LlmClient
from tests.waiting import until
from tests.workers.benches import a_bench
from tests.workers.full_disk import FullDisk, disk_to_fill
from tests.workers.leases import NOWHERE, a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble
from tests.workers.scripted_runner import F, P, ScriptedRunner
from tests.workers.small_upstream import Upstream
from workers.builds.native_build import NativeBuilds
from workers.device_runner import DeviceRunner
from workers.relay_client import RelayClient, RetryPolicy
from workers.runner.sandbox import Unconfined
from workers.runner.types import Installation
from workers.session import Session
from workers.workspace import Workspace

FILE = "test/test_a.py"
TESTS = tuple(
    TestOrder(id=f"{FILE}::TestASPYRE::test_{number}", file=FILE, expected=Expected.MANDATORY_SUCCESS)
    for number in range(6)
)
QUICK = RetryPolicy(attempts=2, timeout_s=10, first_wait_s=0.001)


def no_model(settings: TriageSettings) -> LlmClient:
    raise AssertionError(f"no model was configured, but {settings.model} is asked for")


@pytest.fixture
def change(upstream: Upstream) -> Change:
    base = upstream.commit({FILE: "old\n"})
    return upstream.change(base, upstream.commit({FILE: "new\n"}))


@pytest.fixture
def awake(relay: RelayDouble, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Sessions of one worker with a scripted runner."""
    with RelayClient(relay.url, TOKEN, retry=QUICK) as client:

        def session(
            runner: ScriptedRunner,
            shutting_down: Callable[[], bool] = lambda: False,
            builds: NativeBuilds | None = None,
        ) -> Session:
            return Session(
                client=client,
                workspace=Workspace(tmp_path / "work"),
                identity=LeaseRequest(worker="w1", device="spyre"),
                bench=a_bench(runner, builds=builds),
                make_llm=no_model,
                shutting_down=shutting_down,
            )

        yield session


def heartbeat_ended() -> bool:
    return not any(thread.name.startswith("heartbeat") for thread in threading.enumerate())


def test_a_shard_is_run_reported_and_finished(
    relay: RelayDouble, awake: Callable[..., Session], change: Change, tmp_path: Path
) -> None:
    relay.leases.append(a_test_lease(change, TESTS))
    runner = ScriptedRunner({("head", TESTS[2].id): (F,)})
    assert awake(runner).run() == 1
    assert {result.id: [a.observation for a in result.attempts] for result in relay.results} == {
        test.id: [F, F, P] if test is TESTS[2] else [P] for test in TESTS
    }
    assert [(end.outcome, end.error) for end in relay.finished] == [(ShardOutcome.DONE, "")]
    assert list((tmp_path / "work" / "shards").iterdir()) == []


def test_the_log_of_a_shard_tells_its_steps_and_its_tests(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    """A failure that is not confirmed is told with both tries; all of it is there before the shard's end is."""
    relay.leases.append(a_test_lease(change, TESTS[:2]))
    awake(ScriptedRunner({("head", TESTS[0].id): (F, P)})).run()
    failed, passed, again = (f"{word:<9}    0.500 s  {FILE}::TestASPYRE" for word in ("failed", "passed", "passed"))
    assert relay.log == [
        (LogKind.STEP, "fetching the change"),
        (LogKind.STEP, f"running {FILE} (1 of 1)"),
        (LogKind.FAILURE, f"{failed}::test_0"),
        (LogKind.OUTPUT, "    failed on head"),
        (LogKind.TEST, f"{passed}::test_1"),
        (LogKind.TEST, f"{again}::test_0 (try 2)"),
    ]


def test_every_line_of_a_shard_has_its_ids(relay: RelayDouble, awake: Callable[..., Session], change: Change) -> None:
    """Also those of the threads beside it: here heartbeats fail, and the relay takes no log."""
    captured = structlog.testing.LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, captured])
    relay.failures["heartbeat"] = deque([500] * 50)
    relay.failures["log"] = deque([422] * 50)
    relay.leases.append(a_test_lease(change, TESTS[:2], expires_in_s=0.06))
    relay.leases.append(a_test_lease(NOWHERE, TESTS[:1], lease_id="test-2"))

    def wait_for_a_heartbeat(side: str, test: str) -> None:
        until(lambda: any(line["event"] == "heartbeat failed" for line in captured.entries))

    slow = ScriptedRunner(before_test=wait_for_a_heartbeat)
    awake(slow).run()
    lines = captured.entries
    said = {line["event"] for line in lines}
    assert {"shard leased", "shard ended", "shard failed", "heartbeat failed"} <= said
    assert [line for line in lines if not {"run", "shard", "kind", "attempt"} <= line.keys()] == []


def test_the_log_of_a_shard_that_breaks_ends_with_the_reason(relay: RelayDouble, awake: Callable[..., Session]) -> None:
    relay.leases.append(a_test_lease(NOWHERE, TESTS))
    awake(ScriptedRunner()).run()
    kind, text = relay.log[-1]
    assert kind is LogKind.FAILURE
    assert text == relay.finished[0].error


def test_no_result_and_no_line_holds_a_secret(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.leases.append(a_test_lease(change, TESTS[:1]))
    replace(awake(ScriptedRunner({("head", TESTS[0].id): (F,)})), redact=Redactor(["failed on head"])).run()
    assert [tried.detail for tried in relay.results[0].attempts] == [HIDDEN, HIDDEN, "passed on base"]
    assert (LogKind.OUTPUT, f"    {HIDDEN}") in relay.log


def test_a_relay_without_logs_gets_everything_else(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.failures["log"] = deque([404] * 50)
    relay.leases.append(a_test_lease(change, TESTS))
    awake(ScriptedRunner()).run()
    assert len(relay.results) == len(TESTS)
    assert relay.finished[0].outcome is ShardOutcome.DONE
    assert len(relay.failures["log"]) == 49


def test_a_run_planned_on_an_environment_that_is_not_here_is_left_to_others(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    """Its other shards would answer for another torch."""
    lease = a_test_lease(change, TESTS).model_copy(
        update={"tested_on": TestedOn(name="nightly", torch_version="2.99.0")}
    )
    relay.leases.append(lease)
    runner = ScriptedRunner()
    awake(runner).run()
    assert runner.runs == []
    (end,) = relay.finished
    assert end.outcome is ShardOutcome.FAILED
    assert end.error.startswith("The run was planned on torch 2.99.0 of environment nightly, and this worker has no")


def test_a_redelivered_wake_finds_nothing_to_do(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.leases.append(a_test_lease(change, TESTS))
    session = awake(ScriptedRunner())
    assert [session.run(), session.run()] == [1, 0]
    assert len(relay.finished) == 1
    assert len(relay.results) == len(TESTS)


def test_one_wake_does_all_that_is_due(relay: RelayDouble, awake: Callable[..., Session], change: Change) -> None:
    relay.leases.extend(a_test_lease(change, TESTS[:1], lease_id=f"lease-{number}") for number in range(3))
    assert awake(ScriptedRunner()).run() == 3
    assert [end.lease_id for end in relay.finished] == ["lease-0", "lease-1", "lease-2"]


@pytest.mark.parametrize("answer", ["lost", "cancelled"])
def test_a_lost_or_cancelled_shard_stops_at_the_next_test(
    relay: RelayDouble, awake: Callable[..., Session], change: Change, answer: str
) -> None:
    """And says no more about it, not even that it ended."""
    relay.leases.append(a_test_lease(change, TESTS, expires_in_s=0.3))
    started: list[str] = []

    def stop_in_the_second(side: str, test: str) -> None:
        started.append(test)
        if len(started) == 2:
            getattr(relay, answer).add("test-1")
            until(heartbeat_ended)

    assert awake(ScriptedRunner(before_test=stop_in_the_second)).run() == 1
    assert started == [TESTS[0].id, TESTS[1].id]
    assert relay.finished == []


def test_a_lease_lost_between_heartbeats_is_noticed_by_the_results(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.lost.add("test-1")
    relay.leases.append(a_test_lease(change, TESTS))
    assert awake(ScriptedRunner()).run() == 1
    assert relay.posted == []
    assert relay.finished == []


def test_heartbeats_continue_while_a_test_takes_its_time(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.leases.append(a_test_lease(change, TESTS[:1], expires_in_s=0.3))

    def slow(side: str, test: str) -> None:
        until(lambda: [beat.progress for beat in relay.heartbeats].count(f"running {FILE} (1 of 1)") >= 3)

    awake(ScriptedRunner(before_test=slow)).run()
    assert len(relay.finished) == 1


def test_a_shutdown_stops_softly_and_makes_the_shard_due_again(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.leases.extend([a_test_lease(change, TESTS), a_test_lease(change, TESTS, lease_id="never-taken")])
    asked = threading.Event()

    def shutdown(side: str, test: str) -> None:
        if test == TESTS[2].id:
            asked.set()

    assert awake(ScriptedRunner(before_test=shutdown), asked.is_set).run() == 1
    assert [result.id for result in relay.results] == [test.id for test in TESTS[:3]]
    assert [end.outcome for end in relay.finished] == [ShardOutcome.STOPPED]
    assert "stopped before the shard was done" in relay.finished[0].error
    assert len(relay.leases) == 1


def test_a_shutdown_ends_a_build_and_makes_the_shard_due_again(
    relay: RelayDouble, awake: Callable[..., Session], upstream: Upstream, tmp_path: Path
) -> None:
    base = upstream.commit({FILE: "old\n", "aten/a.cpp": "1\n"})
    change = upstream.change(base, upstream.commit({"aten/a.cpp": "2\n"}))
    relay.leases.append(a_test_lease(change, TESTS))
    builds = NativeBuilds(tmp_path / "builds", ("sleep", "600"), Unconfined(""), 600, 1 << 30)
    runner = ScriptedRunner()
    assert awake(runner, lambda: not relay.leases, builds).run() == 1
    assert runner.runs == []
    assert [(end.outcome, end.error) for end in relay.finished] == [
        (ShardOutcome.STOPPED, "The worker was stopped before the shard was done.")
    ]


def test_a_shutdown_after_the_last_test_does_not_spoil_the_shard(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.leases.append(a_test_lease(change, TESTS))
    asked = threading.Event()

    def shutdown(side: str, test: str) -> None:
        if test == TESTS[-1].id:
            asked.set()

    awake(ScriptedRunner(before_test=shutdown), asked.is_set).run()
    assert len(relay.results) == len(TESTS)
    assert [end.outcome for end in relay.finished] == [ShardOutcome.DONE]


def test_a_shard_that_breaks_is_reported_and_the_loop_goes_on(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    def broken(side: str, test: str) -> None:
        if not relay.finished:
            raise ZeroDivisionError("in the\ndevice " + "x" * 20_000)

    relay.leases.extend([a_test_lease(change, TESTS, lease_id="one"), a_test_lease(change, TESTS, lease_id="two")])
    assert awake(ScriptedRunner(before_test=broken)).run() == 2
    first, second = relay.finished
    assert first.outcome is ShardOutcome.FAILED
    assert first.error.startswith("ZeroDivisionError: in the device xxx")
    assert len(first.error) == 8_000
    assert second.outcome is ShardOutcome.DONE


def test_a_change_that_cannot_be_fetched_says_what_to_check(relay: RelayDouble, awake: Callable[..., Session]) -> None:
    relay.leases.append(a_test_lease(NOWHERE, TESTS))
    awake(ScriptedRunner()).run()
    assert "Check that the commit still exists" in relay.finished[0].error


@pytest.mark.parametrize("fields", [{"clone_url": "ext::sh -c true"}, {"fetch_ref": "--upload-pack=true"}])
def test_a_hostile_change_is_refused(
    relay: RelayDouble, awake: Callable[..., Session], change: Change, fields: dict[str, str]
) -> None:
    relay.leases.append(a_test_lease(change.model_copy(update=fields), TESTS))
    awake(ScriptedRunner()).run()
    assert relay.finished[0].outcome is ShardOutcome.FAILED
    assert relay.results == []


def test_results_survive_a_relay_that_is_restarting(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.failures["results"] = deque([503])
    relay.leases.append(a_test_lease(change, TESTS))
    awake(ScriptedRunner()).run()
    assert relay.attempts[:2] == [("results", 1), ("results", 1)]
    assert len(relay.results) == len(TESTS)
    assert [end.outcome for end in relay.finished] == [ShardOutcome.DONE]


def test_a_relay_that_refuses_the_token_ends_the_wake_quietly(
    relay: RelayDouble, awake: Callable[..., Session]
) -> None:
    relay.failures["lease"] = deque([401])
    assert awake(ScriptedRunner()).run() == 0


def test_a_shard_without_its_order_is_a_difference_of_versions(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    relay.leases.append(a_test_lease(change).model_copy(update={"kind": ShardKind.SELECT}))
    awake(ScriptedRunner()).run()
    assert "differ in version" in relay.finished[0].error


def test_a_selection_asks_once_how_tests_ended_when_its_paths_changed(
    relay: RelayDouble, awake: Callable[..., Session], change: Change
) -> None:
    """The relay knows the earlier versions of the pull request by its number."""
    order = {"kind": ShardKind.SELECT, "select": SelectOrder(manifests=())}
    asked_for = change.model_copy(update={"pr_number": 7})
    relay.leases.append(a_test_lease(asked_for).model_copy(update=order))
    awake(ScriptedRunner()).run()
    asked = [(it.paths, it.repo, it.pr_number, it.head_sha) for it in relay.past_asked if it.paths]
    assert asked == [((FILE,), change.repo, 7, change.head_sha)]


@pytest.mark.parametrize("confined", [True, False])
def test_what_was_read_of_tests_is_kept_where_tests_cannot_write(
    relay: RelayDouble, awake: Callable[..., Session], change: Change, tmp_path: Path, confined: bool
) -> None:
    """Test code that could write there could hide tests from every later selection."""
    lease = a_test_lease(change).model_copy(update={"kind": ShardKind.SELECT, "select": SelectOrder(manifests=())})
    relay.leases.append(lease)
    session = awake(ScriptedRunner())
    replace(session, bench=replace(session.bench, confined=confined)).run()
    assert relay.selections
    assert (tmp_path / "work" / "catalog").is_file() is confined
    assert (tmp_path / "work" / "history").is_file() is confined


def test_a_base_is_run_once_for_all_changes_that_are_compared_with_it(
    relay: RelayDouble, awake: Callable[..., Session], upstream: Upstream
) -> None:
    """Another change of the same base meets what is known: as a failure it excuses, and where head passes as news. A
    change of another base does not."""
    base = upstream.commit({FILE: "old\n"})
    first, second = (upstream.change(base, upstream.commit({FILE: f"{number}\n"})) for number in (1, 2))
    other = upstream.change(second.head_sha, upstream.commit({FILE: "3\n"}))
    known, fixed = TESTS[0].id, TESTS[1].id

    def play(change: Change, *failing: str) -> ScriptedRunner:
        runner = ScriptedRunner({(side, test): (F,) for side in ("head", "base") for test in failing})
        relay.leases.append(a_test_lease(change, TESTS[:3], lease_id=change.head_sha))
        assert awake(runner).run() == 1
        return runner

    assert [side for side, *_ in play(first, known, fixed).runs].count("base") == 3
    relay.posted.clear()
    assert "base" not in [side for side, *_ in play(second, known).runs]
    seen = {result.id: [(a.tree, a.observation, a.reused) for a in result.attempts] for result in relay.results}
    on_base = [(Tree.BASE, F, True)] * 2
    assert seen == {
        known: [(Tree.HEAD, F, False)] * 2 + on_base,
        fixed: [(Tree.HEAD, P, False), *on_base],
        TESTS[2].id: [(Tree.HEAD, P, False)],
    }
    assert "base" in [side for side, *_ in play(other, known).runs]


@pytest.fixture
def disk() -> Iterator[FullDisk]:
    with disk_to_fill() as found:
        yield found


def test_a_worker_without_room_takes_no_shard(
    relay: RelayDouble, awake: Callable[..., Session], change: Change, disk: FullDisk
) -> None:
    """It would fail all that is due, one shard after the other. With room again it goes on."""
    relay.leases.append(a_test_lease(change, TESTS))
    session = awake(ScriptedRunner())
    disk.fill()
    assert session.run() == 0
    assert len(relay.leases) == 1
    disk.clear()
    assert session.run() == 1
    assert [end.outcome for end in relay.finished] == [ShardOutcome.DONE]


@pytest.mark.parametrize("how", ["a test fails", "the shard breaks"])
def test_what_fails_for_want_of_room_is_given_back_and_no_result(
    relay: RelayDouble, awake: Callable[..., Session], change: Change, disk: FullDisk, how: str
) -> None:
    """It says nothing of the change, and is not counted against the shard; the next one is left to others."""

    def fill(side: str, test: str) -> None:
        if test == TESTS[2].id:
            disk.fill()
            if how == "the shard breaks":
                raise OSError(28, "No space left on device")

    relay.leases.extend([a_test_lease(change, TESTS), a_test_lease(change, TESTS, lease_id="never-taken")])
    script = {(side, TESTS[2].id): (F,) for side in ("head", "base")}
    assert awake(ScriptedRunner(script, before_test=fill)).run() == 1
    assert TESTS[2].id not in {result.id for result in relay.results}
    (end,) = relay.finished
    assert end.outcome is ShardOutcome.STOPPED
    assert end.error.startswith("The worker's work directory takes nothing more: ")
    assert len(relay.leases) == 1


def test_a_selection_made_without_room_is_no_selection(
    relay: RelayDouble, awake: Callable[..., Session], change: Change, disk: FullDisk
) -> None:
    """What could not be collected may have been there to collect."""

    def made(scratch: Path, installation: Installation) -> AbstractContextManager[DeviceRunner]:
        disk.fill()
        return nullcontext(ScriptedRunner())

    order = {"kind": ShardKind.SELECT, "select": SelectOrder(manifests=())}
    relay.leases.append(a_test_lease(change).model_copy(update=order))
    session = awake(ScriptedRunner())
    assert replace(session, bench=replace(session.bench, make_runner=made)).run() == 1
    assert relay.selections == []
    assert [end.outcome for end in relay.finished] == [ShardOutcome.STOPPED]
