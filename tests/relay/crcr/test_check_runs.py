"""Check runs: which jobs have one, how it looks, and that a job has one and no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.check_runs import CheckRunSender, Wish, check_of, details_url, is_shown, run_number, show, wish, wished
from relay.github.types import CheckRun, GitHubError
from relay.outbox.types import Letter, Sent
from relay.store.crcr_models import JobState, OutboxKind, OutboxState
from tests.conformance.payloads import S1, S2, UPSTREAM
from tests.relay.crcr.stage import Stage, a_job, completed, staged

WEB = "https://github.com"


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record with a GitHub to look at."""
    with staged(context) as made:
        yield made


def seen(stage: Stage, **columns: Any) -> CheckRun:
    """The check run of a job."""
    job = completed(stage.clock(), **columns) if "conclusion" in columns else a_job(stage.clock(), **columns)
    return check_of(job, WEB)


def test_a_job_in_progress_looks_as_the_original_shows_it(stage: Stage) -> None:
    """Name, commit, link, external id and texts are those that readers upstream know."""
    where = "https://github.com/a/l4/actions/runs/100"
    assert seen(stage) == CheckRun(
        name="crcr/a/l4/CI/build",
        head_sha=S1,
        status="in_progress",
        conclusion=None,
        details_url=where,
        external_id="100:7",
        title="In progress",
        summary=f"a/l4 workflow: {where}",
    )


@pytest.mark.parametrize(
    ("conclusion", "title"),
    [("success", "Success"), ("timed_out", "Timed_out"), ("action_required", "Action_required"), (None, "Completed")],
)
def test_the_title_of_an_end_is_its_conclusion(stage: Stage, conclusion: str | None, title: str) -> None:
    """With the first letter in upper case; without a conclusion it only says that it is over."""
    check = seen(stage, conclusion=conclusion)
    assert (check.title, check.status, check.conclusion) == (title, "completed", conclusion)


def test_a_supposed_end_says_that_it_is_one(stage: Stage) -> None:
    """Nobody reads it as the backend's own word."""
    summary = seen(stage, conclusion="timed_out", assumed="no report within 6 h").summary
    assert summary.startswith("a/l4 workflow: https://")
    assert "Assumed, not reported: no report within 6 h" in summary


def test_names_keep_their_separators(stage: Stage) -> None:
    """Slashes and colons of workflows and jobs stay as they are."""
    assert seen(stage, workflow="CI / cuda", job_name="a:b/c").name == "crcr/a/l4/CI / cuda/a:b/c"


def test_a_job_without_a_name_is_called_as_the_original_calls_it(stage: Stage) -> None:
    """The strict mode takes such jobs."""
    assert seen(stage, job_name="").name == "crcr/a/l4/CI/None"


def test_the_external_id_is_the_run_alone_without_a_pull_request(stage: Stage) -> None:
    """There is no number to add."""
    assert seen(stage, pr_number=None).external_id == "100"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://buildkite.com/a/b/builds/1", "https://buildkite.com/a/b/builds/1"),
        ("http://plain.example/1", "https://github.com/a/l4"),
        ("javascript:alert(1)", "https://github.com/a/l4"),
        ("", "https://github.com/a/l4"),
    ],
)
def test_a_run_of_another_ci_is_found_by_its_own_address(stage: Stage, url: str, shown: str) -> None:
    """If that is one of the web; else by the repository."""
    assert details_url(a_job(stage.clock(), run_id="0198-uuid", url=url), WEB) == shown


def test_a_run_of_github_is_never_linked_elsewhere(stage: Stage) -> None:
    """The backend's own address of it is not believed."""
    job = a_job(stage.clock(), url="https://evil.example/")
    assert details_url(job, WEB) == "https://github.com/a/l4/actions/runs/100"


@pytest.mark.parametrize("text", ["", "0", "abc", "1a", "-1", "1.0", "٣", " 1", "0198-uuid", "9" * 5_000])
def test_a_text_that_is_no_run_of_github_is_none(text: str) -> None:
    """Only decimal digits of ours name one, and 0 is nobody's."""
    assert run_number(text) is None


@pytest.mark.parametrize(
    ("level", "wanted", "shown"),
    [
        *((Level.L1, False, False), (Level.L2, True, False), (Level.L3, False, False)),
        *((Level.L3, True, True), (Level.L4, False, True), (Level.L4, True, True)),
    ],
)
def test_who_is_shown(stage: Stage, level: Level, wanted: bool, shown: bool) -> None:
    """L4 always, L3 on request, others never."""
    job = stage.add(level=level)
    with stage.context.store.writing() as session:
        if wanted:
            wish(session, Wish(UPSTREAM, S1, job.repo_key, 7), "a label", stage.clock())
        assert is_shown(session, job, level) is shown


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ({"event_type": "push", "pr_number": None}, False),
        ({"event_type": "push", "pr_number": 42}, True),
        ({"event_type": "nightly", "pr_number": None}, False),
        ({"head_sha": ""}, False),
        ({"pr_number": None}, True),
    ],
)
def test_there_must_be_a_commit_of_a_pull_request(stage: Stage, columns: dict[str, Any], shown: bool) -> None:
    """A push has one by its tag only, a scheduled run has none."""
    job = stage.add(**columns)
    with stage.context.store.reading() as session:
        assert is_shown(session, job, Level.L4) is shown


def test_a_wish_is_for_one_commit_and_one_backend_and_made_once(stage: Stage) -> None:
    """Wishing twice keeps the first reason; letter case of the repository does not matter, the commit does."""
    with stage.context.store.writing() as session:
        for reason in ("first", "second"):
            wish(session, Wish(UPSTREAM, S1, "a/l3", 7), reason, stage.clock())
        assert wished(session, "PyTorch/PyTorch", S1, "a/l3")
        assert not wished(session, UPSTREAM, S2, "a/l3")
        assert not wished(session, UPSTREAM, S1, "a/l4")
        assert not wished(session, "else/where", S1, "a/l3")


def shown(stage: Stage, job_id: int, **columns: Any) -> bool:
    """Move a job and show it."""
    with stage.context.store.writing() as session:
        job = stage.job(job_id)
        job = session.merge(job)
        for name, value in columns.items():
            setattr(job, name, value)
        return show(session, stage.context.settings, job, stage.clock())


def test_a_job_has_one_check_run_that_is_updated(stage: Stage) -> None:
    """Start and end are two writes of the same check run."""
    job = stage.add()
    assert shown(stage, job.id)
    stage.outbox.deliver_due()
    assert shown(stage, job.id, state=JobState.COMPLETED, conclusion="failure")
    stage.outbox.deliver_due()
    (check,) = stage.github.checks.values()
    assert (check.writes, check.check.conclusion, stage.job(job.id).check_id) == (2, "failure", check.id)


def test_start_and_end_that_are_sent_together_keep_their_order(stage: Stage) -> None:
    """The lane of the job sees to it: the end is never overwritten by the start."""
    job = stage.add()
    shown(stage, job.id)
    shown(stage, job.id, state=JobState.COMPLETED, conclusion="success")
    stage.outbox.deliver_due()
    (check,) = stage.github.checks.values()
    assert (check.writes, check.check.status) == (2, "completed")


def test_showing_the_same_again_sends_nothing(stage: Stage) -> None:
    """A repeat of what was decided before is no new decision."""
    job = stage.add()
    assert [shown(stage, job.id), shown(stage, job.id)] == [True, False]
    stage.outbox.deliver_due()
    assert len(stage.github.checks) == 1


def test_the_strict_mode_creates_one_more_each_time(stage: Stage) -> None:
    """As the original does, even for the same content."""
    stage.set(crcr_strict_compat=True)
    job = stage.add()
    shown(stage, job.id)
    stage.clock.tick(1)
    shown(stage, job.id)
    stage.outbox.deliver_due()
    assert [check.writes for check in stage.github.named("crcr/a/l4/CI/build")] == [1, 1]


def test_a_check_run_that_is_gone_is_created_again(stage: Stage) -> None:
    """For example when the App was installed anew."""
    job = stage.add(check_id=999)
    shown(stage, job.id)
    stage.outbox.deliver_due()
    assert [call for call, _ in stage.github.calls] == ["update_check_run", "create_check_run"]
    assert stage.job(job.id).check_id == 1


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (GitHubError("Server Error", status=500), OutboxState.DUE),
        (GitHubError("no answer"), OutboxState.DUE),
        (GitHubError("rate limit", status=403, retry_after_s=90), OutboxState.DUE),
        (GitHubError("Resource not accessible by integration", status=403), OutboxState.DEAD),
        (GitHubError("Validation Failed", status=422), OutboxState.DEAD),
    ],
)
@pytest.mark.parametrize("known", [None, 1])
def test_a_refusal_is_tried_again_or_parked(
    stage: Stage, error: GitHubError, state: OutboxState, known: int | None
) -> None:
    """By whether the same request may succeed later; create and update alike."""
    job = stage.add(check_id=known)
    shown(stage, job.id)
    stage.github.fail("create_check_run" if known is None else "update_check_run", error)
    stage.outbox.deliver_due()
    (row,) = stage.queued(OutboxKind.CHECK_RUN)
    assert (row.state, row.last_error, stage.job(job.id).check_id) == (state, error.message, known)


def letter(stage: Stage, job_id: int, attempt: int) -> Letter:
    """The letter about a job, at one of its attempts."""
    body = {"check": asdict(check_of(stage.job(job_id), WEB))}
    return Letter(1, OutboxKind.CHECK_RUN, "k", UPSTREAM, attempt, body, job_id=job_id)


def test_a_check_run_whose_creation_was_not_noted_is_found_again(stage: Stage) -> None:
    """The process died, or GitHub's answer was lost, after it had been created: there is one all the same."""
    sender = CheckRunSender(stage.github, stage.context.store)
    job = stage.add()
    endings = [sender.send(letter(stage, job.id, attempt)) for attempt in (1, 2, 3)]
    assert endings == [Sent({"check_id": 1})] * 3
    assert [check.writes for check in stage.github.checks.values()] == [3]


def test_the_check_run_of_another_attempt_is_not_taken_for_it(stage: Stage) -> None:
    """Attempts of one run have the same name and external id."""
    sender = CheckRunSender(stage.github, stage.context.store)
    first = stage.add()
    shown(stage, first.id)
    stage.outbox.deliver_due()
    second = stage.add(run_attempt=2)
    assert sender.send(letter(stage, second.id, 2)) == Sent({"check_id": 2})
    assert [check.writes for check in stage.github.checks.values()] == [1, 1]


def test_a_first_attempt_looks_for_nothing(stage: Stage) -> None:
    """One request is enough when nothing went wrong."""
    shown(stage, stage.add().id)
    stage.outbox.deliver_due()
    assert [call for call, _ in stage.github.calls] == ["create_check_run"]
