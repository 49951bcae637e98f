"""The sweep over jobs that never told their end (ZC)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, update

from relay.crcr.zombies import sweep
from relay.github.types import CheckRun
from relay.parts import AllowlistUnavailableError
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, BackendJobEvent, Dispatch, JobState, OutboxKind, OutboxState
from tests.conformance.answering import answer, dispatched, history, jobs, report, results
from tests.conformance.payloads import S1, push
from tests.conformance.waiting import letters
from tests.conformance.world import World

LIMIT_S = 21_600
SWEEP_S = 600


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """The strict mode waits for its HUD: here for one try."""
    return conformance_settings.model_copy(update={"hud_max_retries": 0})


def begun(world: World, *, repo: str = "a/l2", **changes: Any) -> None:
    """A job of a backend is in progress, and nothing that it caused is still under way."""
    assert report(world, repo=repo, **changes).status_code == 200
    world.drain()
    world.hud.posts.clear()
    world.hud.tries.clear()


def swept(world: World, *, after_s: float = LIMIT_S) -> Mapping[str, int]:
    """What a sweep counts after so many seconds, with everything that follows from it."""
    world.clock.tick(after_s)
    counts = sweep(world.context)
    world.drain()
    return {"cleaned": counts["cleaned"], "errors": counts["errors"]}


def forwarded(world: World) -> list[Mapping[str, Any]]:
    """The `workflow` of each envelope that the HUD took."""
    return [post["untrusted"]["callback_payload"]["workflow"] for post in world.hud.posts]


def states(world: World) -> list[str]:
    """The state of each job, oldest first."""
    return [job.state.value for job in jobs(world)]


def shown(world: World) -> list[CheckRun]:
    """The check runs as they stand, oldest first."""
    return [check.check for check in world.github.checks.values()]


def change(world: World, **columns: Any) -> None:
    """Write something else into the record of every job."""
    with world.context.store.writing() as session:
        session.execute(update(BackendJob).values(**columns))


@pytest.mark.row("ZC01")
def test_an_overdue_job_is_reported_as_timed_out(world: World) -> None:
    """Under everything it was first reported as; the time it took is until now, what it waited for was told before."""
    dispatched(world)
    begun(world, workflow_extra="kept", run_attempt="3")
    assert swept(world, after_s=LIMIT_S + 3_600) == {"cleaned": 1, "errors": 0}
    (post,) = world.hud.posts
    trusted, told = post["trusted"], post["untrusted"]["callback_payload"]
    assert (trusted["verified_repo"], trusted["downstream_repo_level"]) == ("a/l2", "L2")
    assert trusted["ci_metrics"]["execution_time"] >= 3_600
    assert trusted["ci_metrics"]["queue_time"] is None
    sent = answer(world, run_attempt="3")
    assert told["delivery_id"] == "d1"
    assert told["payload"] == sent["payload"]
    now = world.clock().isoformat(timespec="microseconds").replace("+00:00", "Z")
    ended = {"status": "completed", "conclusion": "timed_out", "completed_at": now}
    assert told["workflow"] == {**sent["workflow"], **ended, "workflow_extra": "kept"}


@pytest.mark.row("ZC01")
def test_a_supposed_end_is_marked_as_one(world: World) -> None:
    """In the record, in the history, and to the other HUD: nobody reported it."""
    dispatched(world)
    begun(world)
    swept(world)
    (job,) = jobs(world)
    assert "no report" in job.assumed
    assert list(history(world)) == ["callback.start", "supposed"]
    assert world.hud.posts[0]["trusted"]["assumed"] == job.assumed


@pytest.mark.row("ZC02")
def test_a_job_of_a_push_times_out_without_a_pull_request(world: World) -> None:
    """Like any other."""
    assert world.webhook("push", push()).status_code == 200
    world.drain()
    begun(world)
    assert swept(world) == {"cleaned": 1, "errors": 0}
    assert [told["conclusion"] for told in forwarded(world)] == ["timed_out"]
    assert [(row.pr_number, row.pytorch_head_sha) for row in results(world)] == [(0, S1)]


@pytest.mark.row("ZC03")
def test_a_start_in_the_future_took_no_time(world: World) -> None:
    """Clocks of replicas differ."""
    dispatched(world)
    begun(world)
    change(world, in_progress_at=world.clock() + timedelta(seconds=2 * LIMIT_S))
    swept(world)
    assert world.hud.posts[0]["trusted"]["ci_metrics"]["execution_time"] == 0
    assert jobs(world)[0].execution_time == 0


@pytest.mark.row("ZC04")
def test_without_overdue_jobs_nothing_happens(world: World) -> None:
    """One second before."""
    dispatched(world)
    begun(world)
    assert swept(world, after_s=LIMIT_S - 1) == {"cleaned": 0, "errors": 0}
    assert (states(world), world.hud.tries) == (["in_progress"], [])


@pytest.mark.row("ZC05")
def test_one_overdue_job_is_settled_alone(world: World) -> None:
    """The one that began later goes on."""
    dispatched(world)
    begun(world)
    world.clock.tick(60)
    begun(world, job_name="later")
    assert swept(world, after_s=LIMIT_S - 60) == {"cleaned": 1, "errors": 0}
    assert states(world) == ["completed", "in_progress"]
    assert jobs(world)[0].deadline_at is None


@pytest.mark.row("ZC06")
def test_each_overdue_job_is_settled_once(world: World) -> None:
    """Three are three."""
    dispatched(world)
    for name in ("a", "b", "c"):
        begun(world, job_name=name)
    assert swept(world) == {"cleaned": 3, "errors": 0}
    assert sorted(told["job_name"] for told in forwarded(world)) == ["a", "b", "c"]
    assert states(world) == ["completed"] * 3


@pytest.mark.row("ZC07")
def test_a_hud_that_fails_for_one_of_two_gets_it_later(world: World) -> None:
    """Both are settled here, both are sent; what the HUD did not take stays queued until it does."""
    dispatched(world)
    for name in ("a", "b"):
        begun(world, job_name=name)
    world.hud.answers.append(500)
    assert swept(world) == {"cleaned": 2, "errors": 0}
    assert (len(world.hud.tries), len(world.hud.posts), states(world)) == (2, 1, ["completed"] * 2)
    world.clock.tick(SWEEP_S)
    world.drain()
    assert sorted(told["job_name"] for told in forwarded(world)) == ["a", "b"]


@pytest.mark.row("ZC08")
def test_a_job_that_finishes_during_the_sweep_counts_as_cleaned(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own end: what it said itself is not overwritten."""
    dispatched(world)
    begun(world)

    def finishes_meanwhile(repo: str, run_id: int) -> None:
        world.callback(answer(world, "completed", conclusion="failure"))

    monkeypatch.setattr(world.github, "workflow_run", finishes_meanwhile)
    assert swept(world) == {"cleaned": 1, "errors": 0}
    (job,) = jobs(world)
    assert (job.conclusion, job.assumed, job.deadline_at) == ("failure", "", None)
    assert [told["conclusion"] for told in forwarded(world)] == ["failure"]


@pytest.mark.row("ZC09")
def test_an_overdue_l4_job_is_shown_as_timed_out(world: World) -> None:
    """On the head of the pull request, where its start was shown."""
    dispatched(world)
    begun(world, repo="a/l4")
    swept(world)
    (check,) = shown(world)
    assert (check.head_sha, check.status, check.conclusion) == (S1, "completed", "timed_out")


@pytest.mark.row("ZC10")
def test_an_overdue_l2_job_is_not_shown(world: World) -> None:
    """However many there are, the allowlist is looked at once."""
    dispatched(world)
    for name in ("a", "b"):
        begun(world, job_name=name)
    reads = world.allowlist.reads
    assert swept(world) == {"cleaned": 2, "errors": 0}
    assert shown(world) == []
    assert world.allowlist.reads == reads + 1


@pytest.mark.row("ZC11")
def test_a_start_sets_a_deadline_for_its_job(world: World) -> None:
    """The limit from now, for each job of a run its own."""
    dispatched(world)
    begun(world, job_name="a")
    first = world.clock() + timedelta(seconds=LIMIT_S)
    world.clock.tick(60)
    begun(world, job_name="b")
    assert [job.deadline_at for job in jobs(world)] == [first, first + timedelta(seconds=60)]


@pytest.mark.row("ZC12")
def test_an_end_takes_the_deadline_of_its_job_away(world: World) -> None:
    """Of no other."""
    dispatched(world)
    for name in ("a", "b"):
        begun(world, job_name=name)
    report(world, "completed", job_name="a")
    assert [job.job_name for job in jobs(world) if job.state is JobState.IN_PROGRESS and job.deadline_at] == ["b"]
    world.hud.posts.clear()
    assert swept(world) == {"cleaned": 1, "errors": 0}
    assert [told["job_name"] for told in forwarded(world)] == ["b"]


@pytest.mark.row("ZC13")
def test_a_lost_deadline_is_not_the_backends_matter(world: World) -> None:
    """It is part of the job's own row, so it cannot fail alone; a job without one reports as ever."""
    dispatched(world)
    begun(world)
    change(world, deadline_at=None)
    assert swept(world) == {"cleaned": 0, "errors": 0}
    assert report(world, "completed").status_code == 200
    assert states(world) == ["completed"]


@pytest.mark.row("ZC14")
def test_only_jobs_in_progress_are_overdue(world: World) -> None:
    """A deadline that outlived its job is nobody's."""
    dispatched(world)
    for name in ("a", "b"):
        begun(world, job_name=name)
    report(world, "completed", job_name="a")
    world.hud.posts.clear()
    change(world, deadline_at=world.clock())
    assert swept(world) == {"cleaned": 1, "errors": 0}
    assert [told["job_name"] for told in forwarded(world)] == ["b"]
    assert [job.conclusion for job in jobs(world)] == ["success", "timed_out"]


@pytest.mark.row("ZC15")
@pytest.mark.parametrize("name", ["build", "linux-x86_64 / pytorch / test", "shard (1, 2)", "a" * 300])
def test_the_name_of_an_overdue_job_is_told_whole(world: World, name: str) -> None:
    """As it was reported."""
    dispatched(world)
    begun(world, job_name=name)
    swept(world)
    assert [told["job_name"] for told in forwarded(world)] == [name]


@pytest.mark.row("ZC16")
def test_a_job_whose_record_is_gone_is_not_reported(world: World) -> None:
    """There is nothing to say of it."""
    dispatched(world)
    begun(world)
    with world.context.store.writing() as session:
        session.execute(delete(BackendJobEvent))
        for item in letters(session, OutboxKind.HUD):
            session.delete(item)
        session.execute(delete(BackendJob))
    assert swept(world) == {"cleaned": 0, "errors": 0}
    assert world.hud.tries == []


@pytest.mark.row("ZC17")
@pytest.mark.parametrize("kept", [{}, {"workflow": "x"}, {"workflow": None, "payload": None}])
def test_a_job_whose_callback_is_malformed_keeps_no_other_back(world: World, kept: dict[str, Any]) -> None:
    """Who it is, its own columns tell; nothing is ever read out of a joined text."""
    dispatched(world)
    begun(world)
    change(world, callback=kept)
    begun(world, job_name="sound")
    assert swept(world) == {"cleaned": 2, "errors": 0}
    assert sorted(told["job_name"] for told in forwarded(world)) == ["build", "sound"]


@pytest.mark.row("ZC18")
def test_a_name_with_a_colon_is_a_name(world: World) -> None:
    """The original loses such a job for good."""
    dispatched(world)
    begun(world, job_name="build:cuda")
    counts = swept(world)
    if world.strict:
        assert (counts, forwarded(world)) == ({"cleaned": 0, "errors": 0}, [])
        assert swept(world, after_s=SWEEP_S) == {"cleaned": 0, "errors": 0}
        assert states(world) == ["in_progress"]
    else:
        assert counts == {"cleaned": 1, "errors": 0}
        assert [(told["job_name"], told["conclusion"]) for told in forwarded(world)] == [("build:cuda", "timed_out")]


@pytest.mark.row("ZC19")
@pytest.mark.parametrize("name", ["3", "1:2:3", "shard (1, 2)", "::", "d1:a/l2:100:1"])
def test_no_name_is_mistaken_for_another_part_of_the_identity(world: World, name: str) -> None:
    """Whatever looks like a number, or like a whole key."""
    dispatched(world)
    begun(world, job_name=name)
    assert swept(world) == {"cleaned": 1, "errors": 0}
    assert [(told["job_name"], told["conclusion"]) for told in forwarded(world)] == [(name, "timed_out")]


@pytest.mark.row("ZC20")
def test_the_truth_replaces_what_was_supposed(world: World) -> None:
    """Everywhere, and the history keeps both."""
    dispatched(world)
    begun(world, repo="a/l4")
    swept(world)
    world.hud.posts.clear()
    world.clock.tick(60)
    answered = report(world, "completed", repo="a/l4", conclusion="failure")
    assert (answered.status_code, answered.json()["late"]) == (200, True)
    (job,), (row,), (check,) = jobs(world), results(world), shown(world)
    assert (job.conclusion, job.assumed, row.conclusion, check.conclusion) == ("failure", "", "failure", "failure")
    assert [told["conclusion"] for told in forwarded(world)] == ["failure"]
    assert list(history(world)) == ["callback.start", "supposed", "callback.late_finish"]


@pytest.mark.row("ZC21")
def test_a_hud_that_fails_twice_multiplies_no_check_runs(world: World) -> None:
    """The original creates one in each sweep."""
    dispatched(world)
    begun(world, repo="a/l4")
    before = len(shown(world))
    world.hud.always = 500
    counts = [swept(world), swept(world, after_s=SWEEP_S)]
    timed_out = [check for check in shown(world) if check.conclusion == "timed_out"]
    if world.strict:
        assert counts == [{"cleaned": 0, "errors": 1}] * 2
        assert len(timed_out) == 2
    else:
        assert counts == [{"cleaned": 1, "errors": 0}, {"cleaned": 0, "errors": 0}]
        assert len(shown(world)) == len(timed_out) == before == 1


@pytest.mark.row("ZC22")
def test_what_a_hud_refuses_for_good_is_parked(world: World) -> None:
    """Ours tries once and keeps it for a person; the original tries for ever."""
    dispatched(world)
    begun(world)
    world.hud.always = 400
    counts = [swept(world), *(swept(world, after_s=SWEEP_S) for _ in range(2))]
    if world.strict:
        assert counts == [{"cleaned": 0, "errors": 1}] * 3
        assert (len(world.hud.tries), states(world)) == (3, ["in_progress"])
        return
    assert counts == [{"cleaned": 1, "errors": 0}, *[{"cleaned": 0, "errors": 0}] * 2]
    assert (len(world.hud.tries), states(world)) == (1, ["completed"])
    with world.session() as session:
        parked = letters(session, OutboxKind.HUD)[-1]
        assert (parked.state, parked.last_status) == (OutboxState.DEAD, 400)


@pytest.mark.row("ZC23")
def test_without_an_allowlist_an_l2_job_is_settled(world: World) -> None:
    """The original gives the whole sweep up."""
    dispatched(world)
    begun(world)
    world.allowlist.text = None
    if world.strict:
        with pytest.raises(AllowlistUnavailableError):
            swept(world)
        assert (states(world), world.hud.tries) == (["in_progress"], [])
    else:
        assert swept(world) == {"cleaned": 1, "errors": 0}
        assert [told["conclusion"] for told in forwarded(world)] == ["timed_out"]


def unstarted(world: World) -> Sequence[str]:
    """The backends of whose work nothing was ever heard."""
    with world.session() as session:
        found = session.query(Dispatch).filter(Dispatch.not_started_at.is_not(None)).order_by(Dispatch.repo)
        return [dispatch.repo for dispatch in found]


@pytest.mark.row("ZC24")
def test_a_backend_that_never_started_is_noted(world: World) -> None:
    """Those that report and did not; the original knows nothing of them."""
    dispatched(world)
    begun(world, repo="a/l3")
    swept(world, after_s=LIMIT_S - 1)
    assert unstarted(world) == []
    swept(world, after_s=1)
    assert unstarted(world) == ([] if world.strict else ["a/l2", "a/l4"])


@pytest.mark.row("ZC24")
def test_a_backend_that_starts_after_all_is_not_noted_any_more(world: World) -> None:
    """It was only slow."""
    dispatched(world)
    swept(world)
    assert report(world).status_code == 200
    assert unstarted(world) == ([] if world.strict else ["a/l3", "a/l4"])


@pytest.mark.row("ZC25")
def test_a_second_sweep_finds_nothing(world: World) -> None:
    """And sends nothing."""
    dispatched(world)
    for repo in ("a/l2", "a/l4"):
        begun(world, repo=repo)
    assert swept(world) == {"cleaned": 2, "errors": 0}
    tries, writes = len(world.hud.tries), [check.writes for check in world.github.checks.values()]
    assert swept(world, after_s=SWEEP_S) == {"cleaned": 0, "errors": 0}
    assert (len(world.hud.tries), [check.writes for check in world.github.checks.values()]) == (tries, writes)
