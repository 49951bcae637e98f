"""How callbacks move a job, and what is measured on the way (SM)."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text, update

from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, Dispatch, OutboxItem, OutboxKind, OutboxState
from tests.conformance.answering import answer, dispatched, history, jobs, lose, nothing_happened, report, results
from tests.conformance.payloads import PR, S1, S2, callback, pull_request
from tests.conformance.world import World

INVALID = "invalid state transition"


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """The original's pauses between tries are real ones, and no row here is about them."""
    return conformance_settings.model_copy(update={"hud_max_retries": 0})


def metrics(world: World) -> list[tuple[float | None, float | None]]:
    """Queue and execution time of each accepted post."""
    told = [posted["trusted"]["ci_metrics"] for posted in world.hud.posts]
    return [(one["queue_time"], one["execution_time"]) for one in told]


@pytest.mark.row("SM01")
def test_a_start_tells_how_long_it_was_waited_for(world: World) -> None:
    """From the dispatch on, by the relay's clock."""
    dispatched(world)
    world.clock.tick(30)
    answered = report(world)
    assert (answered.status_code, answered.json()) == (200, {"ok": True, "status": "in_progress"})
    assert metrics(world) == [(30.0, None)]
    assert [(row.status, row.queue_time) for row in results(world)] == [("in_progress", 30.0)]


@pytest.mark.row("SM02")
def test_an_end_tells_how_long_it_took(world: World) -> None:
    """From the start on."""
    dispatched(world)
    world.clock.tick(30)
    report(world)
    world.clock.tick(30)
    answered = report(world, "completed")
    assert (answered.status_code, answered.json()) == (200, {"ok": True, "status": "completed"})
    assert metrics(world) == [(30.0, None), (None, 30.0)]
    (row,) = results(world)
    assert (row.status, row.conclusion, row.queue_time, row.execution_time) == ("completed", "success", 30.0, 30.0)


@pytest.mark.row("SM03")
def test_what_is_forwarded_is_the_body_beside_our_own_word(world: World) -> None:
    """Neither is mixed into the other."""
    dispatched(world)
    body = answer(world)
    world.callback(body)
    world.drain()
    (posted,) = world.hud.posts
    assert posted["untrusted"] == {"callback_payload": body}
    assert posted["trusted"]["verified_repo"] == "a/l2"
    assert set(posted["trusted"]) == {"verified_repo", "downstream_repo_level", "ci_metrics"}


@pytest.mark.row("SM04", "SM28")
def test_a_hud_that_refuses(world: World) -> None:
    """The original hands its refusal on; in ours it is a matter of operators, and the backend's report stands."""
    dispatched(world)
    world.hud.always = 422
    answered = report(world)
    if world.strict:
        assert answered.status_code == 422
        assert "HUD rejected callback: HTTP 422" in answered.json()["detail"]
    else:
        assert answered.status_code == 200
        with world.session() as session:
            letters = session.scalars(select(OutboxItem).where(OutboxItem.kind == OutboxKind.HUD)).all()
        assert [(letter.state, letter.last_status) for letter in letters] == [(OutboxState.DEAD, 422)]
        assert [row.status for row in results(world)] == ["in_progress"]


@pytest.mark.row("SM05")
@pytest.mark.parametrize("field", ["delivery_id", "status"])
def test_delivery_and_status_are_required(world: World, field: str) -> None:
    """The refusal names the field."""
    dispatched(world)
    body = answer(world)
    del (body if field == "delivery_id" else body["workflow"])[field]
    answered = world.callback(body)
    assert answered.status_code == 400
    assert answered.json()["detail"] == f"callback body missing required field: '{field}'"
    assert nothing_happened(world)


@pytest.mark.row("SM06")
@pytest.mark.parametrize("field", ["run_id", "name"])
@pytest.mark.parametrize("value", [..., None])
def test_run_and_name_are_required(world: World, field: str, value: Any) -> None:
    """Null is as good as absent."""
    dispatched(world)
    answered = report(world, **{field: value})
    assert answered.status_code == 400
    assert answered.json()["detail"] == f"callback body missing required field: '{field}'"
    assert nothing_happened(world)


@pytest.mark.row("SM06")
@pytest.mark.parametrize("value", [None, ..., [], "text"])
def test_a_workflow_is_required(world: World, value: object) -> None:
    """As an object."""
    dispatched(world)
    body = {key: told for key, told in (answer(world) | {"workflow": value}).items() if told is not ...}
    answered = world.callback(body)
    assert answered.status_code == 400
    assert "workflow" in answered.json()["detail"]


@pytest.mark.row("SM07")
@pytest.mark.parametrize(("change", "ours"), [({"run_id": "abc"}, 200), ({"run_attempt": "abc"}, 400)])
def test_what_is_no_number(world: World, change: dict[str, Any], ours: int) -> None:
    """The original fails on both; a run of another CI may have any name, an attempt is counted."""
    dispatched(world)
    answered = report(world, **change)
    assert answered.status_code == (500 if world.strict else ours)
    assert [job.run_id for job in jobs(world)] == ([] if world.strict or ours == 400 else ["abc"])


@pytest.mark.row("SM08")
def test_an_absent_attempt_is_the_first(world: World) -> None:
    """So that one which names it is the same job."""
    dispatched(world)
    assert report(world, run_attempt=...).status_code == 200
    assert report(world, "completed", run_attempt=1).status_code == 200
    assert [(job.run_attempt, job.state) for job in jobs(world)] == [(1, "completed")]


@pytest.mark.row("SM09")
def test_without_a_dispatch_nothing_is_taken(world: World) -> None:
    """An unknown delivery, one that this backend was not told of, and a record that nobody can read are the same."""
    assert world.callback(callback()).status_code == 400
    dispatched(world)
    with world.context.store.writing() as session:
        session.execute(text("UPDATE dispatches SET state = 'gibberish' WHERE repo = 'a/l2'"))
        session.execute(text("DELETE FROM outbox"))
        session.execute(text("DELETE FROM dispatches WHERE repo = 'a/l4'"))
    for repo in ("a/l2", "a/l4"):
        answered = report(world, repo=repo)
        assert answered.status_code == 400
        assert answered.json()["detail"] == "callback rejected: no matching dispatch record"
    assert nothing_happened(world)


@pytest.mark.row("SM10")
def test_a_start_that_cannot_be_read_costs_nobody_the_end(world: World) -> None:
    """Only how long it took is not known."""
    dispatched(world)
    report(world)
    with world.context.store.writing() as session:
        session.execute(update(BackendJob).values(in_progress_at=None))
    assert report(world, "completed").status_code == 200
    assert metrics(world)[-1] == (None, None)


@pytest.mark.row("SM11")
def test_state_and_deadline_are_a_jobs_own(world: World) -> None:
    """One job's end leaves the other one running."""
    dispatched(world)
    report(world, job_name="one")
    report(world, job_name="two")
    report(world, "completed", job_name="one")
    limit = timedelta(seconds=world.context.settings.crcr_zombie_timeout_s)
    told = {job.job_name: (job.state.value, job.deadline_at) for job in jobs(world)}
    assert told["two"] == ("in_progress", world.clock() + limit)
    assert told["one"][0] == "completed"


@pytest.mark.row("SM12")
def test_two_jobs_of_one_run_both_start(world: World) -> None:
    """Each has its own row."""
    dispatched(world)
    assert [report(world, job_name=name).status_code for name in ("one", "two")] == [200, 200]
    assert sorted(row.job_name for row in results(world)) == ["one", "two"]


@pytest.mark.row("SM13")
def test_the_first_start_is_accepted(world: World) -> None:
    """The dispatch notes that it was answered."""
    dispatched(world)
    assert report(world).json() == {"ok": True, "status": "in_progress"}
    with world.session() as session:
        answered = session.scalars(select(Dispatch.answered_at).where(Dispatch.repo == "a/l2")).one()
    assert answered == world.clock()


@pytest.mark.row("SM14")
def test_the_same_start_twice(world: World) -> None:
    """Ours takes the repeat for what it is, and does nothing again."""
    dispatched(world)
    report(world)
    world.clock.tick(5)
    answered = report(world, started_at="2026-11-02T09:30:05.000000Z")
    if world.strict:
        assert answered.status_code == 400
        assert INVALID in answered.json()["detail"]
    else:
        assert answered.status_code == 200
        assert answered.json() == {"ok": True, "status": "in_progress", "duplicate": True}
    assert history(world) == ["callback.start"]
    assert len(world.hud.posts) == 1


@pytest.mark.row("SM15")
def test_an_end_without_a_start(world: World) -> None:
    """Ours accepts it out of order, with an unknown start."""
    dispatched(world)
    answered = report(world, "completed")
    if world.strict:
        assert answered.status_code == 400
        assert INVALID in answered.json()["detail"]
        assert nothing_happened(world)
    else:
        assert answered.json() == {"ok": True, "status": "completed"}
        assert metrics(world) == [(None, None)]
        assert [row.status for row in results(world)] == ["completed"]


@pytest.mark.row("SM15")
def test_a_start_that_was_overtaken_by_its_end(world: World) -> None:
    """In ours the order of arrival does not matter: the row is complete, and the job stays ended."""
    dispatched(world)
    report(world, "completed")
    answered = report(world)
    if world.strict:
        assert answered.status_code == 200
    else:
        assert answered.json() == {"ok": True, "status": "in_progress", "late": True}
        (row,) = results(world)
        assert (row.status, row.conclusion) == ("completed", "success")
        assert row.started_at is not None
        assert [job.state for job in jobs(world)] == ["completed"]


@pytest.mark.row("SM16")
def test_an_end_after_its_start_is_accepted(world: World) -> None:
    """Nothing is left to time out."""
    dispatched(world)
    report(world)
    assert report(world, "completed").status_code == 200
    assert [job.state for job in jobs(world)] == ["completed"]


@pytest.mark.row("SM17")
def test_the_same_end_twice(world: World) -> None:
    """Ours takes the repeat for what it is, and does nothing again."""
    dispatched(world)
    report(world)
    report(world, "completed")
    world.clock.tick(5)
    answered = report(world, "completed", completed_at="2026-11-02T09:31:05.000000Z")
    if world.strict:
        assert answered.status_code == 400
        assert INVALID in answered.json()["detail"]
    else:
        assert answered.json() == {"ok": True, "status": "completed", "duplicate": True}
    assert history(world) == ["callback.start", "callback.finish"]
    assert len(world.hud.posts) == 2


@pytest.mark.row("SM18")
def test_an_end_that_contradicts_the_first(world: World) -> None:
    """It is refused with what is stored, and changes nothing."""
    dispatched(world)
    report(world)
    report(world, "completed")
    answered = report(world, "completed", conclusion="failure")
    assert answered.status_code == 409
    assert answered.json()["detail"]["stored"] == {"status": "completed", "conclusion": "success"}
    assert [row.conclusion for row in results(world)] == ["success"]


@pytest.mark.row("SM19")
def test_an_ended_job_does_not_start_again(world: World) -> None:
    """Neither with the same report nor with another."""
    dispatched(world)
    report(world)
    report(world, "completed")
    for change in ({}, {"started_at": "2026-11-02T10:00:00.000000Z"}):
        answered = report(world, **change)
        assert answered.status_code == 400
        assert INVALID in answered.json()["detail"]
    assert [row.status for row in results(world)] == ["completed"]


@pytest.mark.row("SM20")
def test_another_attempt_is_another_job(world: World) -> None:
    """The first one's end is its own."""
    dispatched(world)
    report(world)
    report(world, "completed", conclusion="failure")
    assert report(world, run_attempt="2").status_code == 200
    assert [(job.run_attempt, job.state.value) for job in jobs(world)] == [(1, "completed"), (2, "in_progress")]


@pytest.mark.row("SM21")
@pytest.mark.parametrize("run_id", [0, "0"])
@pytest.mark.parametrize("status", ["in_progress", "completed"])
def test_run_zero_is_nobodys(world: World, run_id: object, status: str) -> None:
    """Nothing of it is stored."""
    dispatched(world)
    answered = report(world, status, run_id=run_id)
    assert answered.status_code == 400
    assert INVALID in answered.json()["detail"]
    assert nothing_happened(world)


@pytest.mark.row("SM22")
@pytest.mark.parametrize("status", ["queued", None, "", 5])
def test_another_status_is_unknown(world: World, status: Any) -> None:
    """Once there is a dispatch; without one, that is what is said."""
    assert "no matching dispatch" in world.callback(callback(status)).json()["detail"]
    dispatched(world)
    answered = report(world, status)
    assert answered.status_code == 400
    assert answered.json()["detail"].startswith("unknown callback status: ")
    assert nothing_happened(world)


@pytest.mark.row("SM23")
@pytest.mark.parametrize("table", ["backend_job_events", "crcr_results", "outbox"])
def test_a_state_that_cannot_be_written_has_no_effects(world: World, table: str) -> None:
    """State, history, result and letters are one transaction; whoever tries again later is heard."""
    dispatched(world)
    lose(world, table)
    answered = world.callback(answer(world))
    assert answered.status_code == 503
    assert int(answered.headers["Retry-After"]) > 0
    with world.context.store.writing() as session:
        session.execute(text(f"ALTER TABLE {table}_lost RENAME TO {table}"))
    assert nothing_happened(world)
    assert report(world).json() == {"ok": True, "status": "in_progress"}


@pytest.mark.row("SM24")
def test_a_running_jobs_report_is_kept_whole(world: World) -> None:
    """For the row that a timeout would write."""
    dispatched(world)
    body = answer(world, artifact_url="https://ci.example/a")
    world.callback(body)
    (job,) = jobs(world)
    assert job.callback == body
    assert (job.repo, job.level, job.delivery_id) == ("a/l2", "L2", "d1")


@pytest.mark.row("SM25", "CK15")
def test_a_job_without_a_name_is_one_of_its_own(world: World) -> None:
    """Only the original takes it; then it is not the job of any name, not of the word that stands for none either."""
    dispatched(world)
    nameless = report(world, job_name=...)
    if not world.strict:
        assert nameless.status_code == 400
        assert "'job_name'" in nameless.json()["detail"]
        return
    assert nameless.status_code == 200
    assert [report(world, job_name=name).status_code for name in ("None", "null", "build")] == [200, 200, 200]
    assert len({job.identity for job in jobs(world)}) == 4
    assert report(world, "completed", job_name=...).status_code == 200


@pytest.mark.row("SM26")
def test_what_is_not_found_is_absent_and_what_cannot_be_looked_up_is_our_fault(world: World) -> None:
    """A refusal would be final for a client; the record is durable, so it comes again."""
    assert world.callback(callback()).status_code == 400
    dispatched(world)
    body = answer(world)
    lose(world, "dispatches")
    assert world.callback(body).status_code == 503
    assert nothing_happened(world)


@pytest.mark.row("SM27")
def test_of_four_equal_starts_at_once_one_is_applied(world: World) -> None:
    """The original may accept all; ours applies one and knows the others for repeats."""
    dispatched(world)
    body, answers = answer(world), []
    threads = [threading.Thread(target=lambda: answers.append(world.callback(body))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    world.drain()
    applied = [one for one in answers if one.status_code == 200 and "duplicate" not in one.json()]
    if world.strict:
        assert applied
    else:
        assert {one.status_code for one in answers} == {200}
        assert len(applied) == 1
    assert history(world) == ["callback.start"]
    assert len(world.hud.posts) == 1


@pytest.mark.row("SM28")
def test_a_hud_that_is_down_during_a_report(world: World) -> None:
    """The original fails and then refuses the repeat; in ours the backend is heard, and the HUD told later, once."""
    dispatched(world)
    world.hud.always = 500
    answers = [report(world).status_code, report(world).status_code]
    assert world.hud.posts == []
    if world.strict:
        assert answers == [500, 400]
        return
    assert answers == [200, 200]
    world.hud.always = 200
    world.clock.tick(24 * 3_600)
    world.drain()
    assert len(world.hud.posts) == 1
    assert [row.status for row in results(world)] == ["in_progress"]


@pytest.mark.row("SM29")
def test_a_clock_that_went_back_makes_no_negative_time(world: World) -> None:
    """Neither of the two."""
    dispatched(world)
    world.clock.tick(-20)
    report(world)
    world.clock.tick(-20)
    report(world, "completed")
    assert metrics(world) == [(0.0, None), (None, 0.0)]


@pytest.mark.row("SM30")
def test_a_later_attempt_has_not_waited_since_the_dispatch(world: World) -> None:
    """How long it did wait, only who asked for it knows."""
    dispatched(world)
    report(world)
    report(world, "completed")
    world.clock.tick(3_600)
    report(world, run_attempt="2")
    assert metrics(world)[-1] == (None, None)


@pytest.mark.row("SM30")
def test_a_later_attempt_that_we_asked_for_waits_since_then(world: World) -> None:
    """A person pressed the button on the check upstream."""
    dispatched(world)
    report(world, repo="a/l4")
    report(world, "completed", repo="a/l4", conclusion="failure")
    world.clock.tick(3_600)
    (shown,) = world.github.checks.values()
    check = {"id": shown.id, "name": shown.check.name, "external_id": shown.check.external_id, "head_sha": S1}
    payload = {"action": "rerequested", "check_run": check, "repository": pull_request()["repository"]}
    assert world.webhook("check_run", payload, delivery="d2").status_code == 200
    world.drain()
    world.clock.tick(40)
    report(world, repo="a/l4", run_attempt="2")
    assert metrics(world)[-1] == (40.0, None)


@pytest.mark.row("SM31")
@pytest.mark.parametrize("conclusion", [None, ..., "banana", "", 5])
def test_a_completed_job_has_a_known_conclusion(world: World, conclusion: object) -> None:
    """The refusal names those that there are."""
    dispatched(world)
    report(world)
    answered = report(world, "completed", conclusion=conclusion)
    assert answered.status_code == 400
    assert all(word in answered.json()["detail"] for word in ("success", "timed_out", "action_required"))
    assert [job.state for job in jobs(world)] == ["in_progress"]


@pytest.mark.row("SM32")
def test_a_backend_is_shown_on_the_commit_that_it_was_asked_about(world: World) -> None:
    """Whatever it claims; the claim is flagged."""
    dispatched(world)
    body = answer(world, repo="a/l4") | {"payload": pull_request(sha=S2, number=999)}
    answered = world.callback(body, repo="a/l4")
    world.drain()
    assert answered.status_code == 200
    assert answered.json()["mismatch"] == ["pr_number", "head_sha"]
    assert [shown.check.head_sha for shown in world.github.checks.values()] == [S1]
    assert [shown.check.external_id for shown in world.github.checks.values()] == [f"100:{PR}"]
    (job,) = jobs(world)
    assert (job.pr_number, job.head_sha, job.mismatch) == (PR, S1, ["pr_number", "head_sha"])
    (row,) = results(world)
    assert (row.pr_number, row.pytorch_head_sha) == (PR, S1)


@pytest.mark.row("SM32")
@pytest.mark.parametrize("proof", [None, {}, {"nonce": "guessed"}, "another's"])
def test_a_delivery_that_everybody_knows_is_no_proof_of_having_been_asked(world: World, proof: object) -> None:
    """Where checks are shown upstream, a backend gives back what was sent to it alone."""
    dispatched(world)
    body = answer(world, repo="a/l4")
    theirs = answer(world, repo="a/l3")["crcr"]
    for given in (proof, theirs):
        assert world.callback(body | {"crcr": given}, repo="a/l4").status_code == 403
    assert nothing_happened(world)
    assert world.callback(body, repo="a/l4").status_code == 200
