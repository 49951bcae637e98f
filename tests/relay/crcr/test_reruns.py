"""Re-runs: whose are asked for, that each is asked for once, and how an answer tells what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from relay.context import RelayContext
from relay.crcr.reruns import RerunFailedError, backend_repo, handle_rerequest, run_of
from relay.github.types import GitHubError, SeenCheckRun
from relay.store.crcr_models import OutboxKind, OutboxState
from relay.store.engine import Store
from tests.relay.crcr.stage import Stage, staged


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


def check(name: object = "crcr/a/l3/CI/build", external_id: object = "55:7", action: str = "rerequested") -> Any:
    """A `check_run` webhook's body."""
    return {"action": action, "check_run": {"name": name, "external_id": external_id}}


def ask(stage: Stage, payload: Any, event: str = "check_run", delivery: str = "r1") -> dict[str, Any]:
    """The answer."""
    return handle_rerequest(stage.context, stage.parts, event, delivery, payload)


def seen(number: int, name: str, external_id: str) -> SeenCheckRun:
    """A check run of a suite."""
    return SeenCheckRun(number, name, external_id, "completed", "failure")


@pytest.mark.parametrize(
    ("name", "repo"),
    [
        ("crcr/a/l3/CI/build", "a/l3"),
        ("crcr/a/l3/CI", "a/l3"),
        ("crcr/a/l3/CI / x/y", "a/l3"),
        ("crcr/a/l3", None),
        ("crcr/a", None),
        ("crcr//l3/CI", None),
        ("crcr/a//CI", None),
        ("xcrcr/a/l3/CI", None),
        ("linux-build", None),
        ("", None),
    ],
)
def test_a_check_name_tells_its_repository(name: str, repo: str | None) -> None:
    """If it is one of ours."""
    assert backend_repo(name) == repo


@pytest.mark.parametrize(
    ("text", "run"), [("55:7", 55), ("88888", 88888), ("", None), (":7", None), ("abc", None), ("0:7", None)]
)
def test_an_external_id_tells_its_run(text: str, run: int | None) -> None:
    """Up to the first colon."""
    assert run_of(text) == run


@pytest.mark.parametrize(
    "payload",
    [
        {"action": "rerequested"},
        {"action": "rerequested", "check_run": None},
        check(name=None),
        check(external_id=None),
        check(external_id=55),
        check(external_id="uuid-of-another-ci"),
    ],
)
def test_what_names_no_run_of_ours_is_ignored(stage: Stage, payload: Any) -> None:
    """Whatever of it is missing or of another type."""
    assert ask(stage, payload) == {"ignored": True, "reason": "not a crcr check run"}
    assert stage.github.calls == []


def test_a_webhook_that_comes_twice_starts_a_run_once(anywhere: Stage) -> None:
    """And both are told the same."""
    assert ask(anywhere, check()) == ask(anywhere, check()) == {"ok": True, "rerun": ["a/l3"]}
    assert anywhere.github.reruns == [("a/l3", 55, "failed")]


def test_another_request_starts_it_again(stage: Stage) -> None:
    """Each click is a delivery of its own."""
    ask(stage, check(), delivery="r1")
    ask(stage, check(), delivery="r2")
    assert len(stage.github.reruns) == 2


def test_a_passing_failure_is_told_and_made_good_later(stage: Stage) -> None:
    """The answer says that it is still queued, and the outbox tries again."""
    stage.github.fail("rerun_failed_jobs", GitHubError("Server Error", status=500))
    with pytest.raises(RerunFailedError) as refused:
        ask(stage, check())
    assert refused.value.detail == {
        "message": "failed to rerun downstream run",
        "repo": "a/l3",
        "error": "Server Error",
        "queued": True,
    }
    stage.clock.tick(120)
    stage.outbox.deliver_due()
    assert stage.github.reruns == [("a/l3", 55, "failed")]


def test_a_refusal_is_told_each_time_and_not_tried_again(stage: Stage) -> None:
    """GitHub said no to this very request; the delivery that comes again learns it from the record."""
    stage.github.fail("rerun_failed_jobs", GitHubError("Not Found", status=404))
    for _ in range(2):
        with pytest.raises(RerunFailedError, match="Not Found") as refused:
            ask(stage, check())
        assert "queued" not in refused.value.detail
    assert len(stage.github.calls) == 1


def test_without_an_outbox_the_request_waits(stage: Stage) -> None:
    """It is written down and told as queued."""
    stage.context = replace(stage.context, outbox=None)
    with pytest.raises(RerunFailedError, match="waits for its turn"):
        ask(stage, check())
    assert [row.state for row in stage.queued(OutboxKind.RERUN)] == [OutboxState.DUE]


def test_background_deliverers_leave_the_first_try_to_the_answer(stage: Stage) -> None:
    """Otherwise they would take the row between its commit and the request's own try."""
    stage.context = replace(stage.context, outbox=None)
    with pytest.raises(RerunFailedError):
        ask(stage, check())
    assert stage.outbox.deliver_due() == 0
    stage.clock.tick(61)
    assert stage.outbox.deliver_due() == 1


def test_the_next_attempt_has_been_waited_for_since_the_request(anywhere: Stage) -> None:
    """The jobs of the run remember when somebody asked; those of other runs and backends do not."""
    same, other = anywhere.add(repo="a/l3", run_id="55"), anywhere.add(repo="a/l3", run_id="56")
    foreign = anywhere.add(repo="a/l4", run_id="55")
    asked_at = anywhere.clock.tick(3_600)
    ask(anywhere, check())
    assert [anywhere.job(job.id).rerun_requested_at for job in (same, other, foreign)] == [asked_at, None, None]


def test_what_is_running_already_was_not_asked_for(stage: Stage) -> None:
    """Its jobs have been waited for since something else."""
    job = stage.add(repo="a/l3", run_id="55")
    stage.github.running.add(("a/l3", 55))
    assert ask(stage, check()) == {"ok": True, "rerun": [], "already_running": True}
    assert stage.job(job.id).rerun_requested_at is None


def test_a_repository_is_called_as_the_allowlist_writes_it(stage: Stage) -> None:
    """Whatever the letter case of the check's name."""
    assert ask(stage, check("crcr/A/L3/CI/build"))["rerun"] == ["a/l3"]


def test_a_suite_starts_each_run_whole_and_once(anywhere: Stage) -> None:
    """Foreign checks, those without a run and those of lower levels are left out; trouble with one skips that one."""
    anywhere.github.suites[9] = [
        *(seen(1, "crcr/a/l3/CI/a", "111:7"), seen(2, "crcr/a/l3/CI/b", "111:7"), seen(3, "crcr/a/l4/CI/c", "222:7")),
        *(seen(4, "linux", "333"), seen(5, "crcr/a/l2/CI/d", "444:7"), seen(6, "crcr/a/l4/CI/e", "")),
        seen(7, "crcr/a/l4/CI/f", "555:7"),
    ]
    anywhere.github.running.add(("a/l4", 222))
    payload = {"action": "rerequested", "check_suite": {"id": 9}}
    assert ask(anywhere, payload, "check_suite") == {"ok": True, "rerun": ["a/l3", "a/l4"]}
    assert sorted(anywhere.github.reruns) == [("a/l3", 111, "all"), ("a/l4", 555, "all")]


@pytest.mark.parametrize("suite", [None, {}, {"id": None}, {"id": "9"}, {"id": True}])
def test_a_suite_without_an_id_is_ignored(stage: Stage, suite: object) -> None:
    """There is nothing to list."""
    answer = ask(stage, {"action": "rerequested", "check_suite": suite}, "check_suite")
    assert answer == {"ignored": True, "reason": "missing check_suite id"}


def test_a_suite_that_cannot_be_listed_is_told(stage: Stage) -> None:
    """With what GitHub said."""
    stage.github.fail("suite_check_runs", GitHubError("Server Error", status=500))
    with pytest.raises(RerunFailedError, match="Server Error"):
        ask(stage, {"action": "rerequested", "check_suite": {"id": 9}}, "check_suite")


def test_without_an_app_a_suite_cannot_be_listed(stage: Stage) -> None:
    """The answer says why."""
    stage.parts = replace(stage.parts, github=None)
    with pytest.raises(RerunFailedError, match="no GitHub App"):
        ask(stage, {"action": "rerequested", "check_suite": {"id": 9}}, "check_suite")
