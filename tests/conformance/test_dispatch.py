"""Rows EV: which events are told to which backends, how they are told, and what is kept of it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from relay.crcr.check_runs import wished
from relay.crcr.trimming import size_of
from relay.github.types import GitHubError
from relay.store.crcr_models import CheckWish, Dispatch, DispatchState, OutboxItem, OutboxState
from tests.conformance.payloads import DELIVERY, S1, UPSTREAM, ZERO, labeled, pull_request, push
from tests.conformance.world import World

ALL = ["a/l1", "a/l2", "a/l3", "a/l4"]
REFUSED = GitHubError("Not Found", status=404)


def repos(entries: list[dict[str, str]]) -> list[str]:
    return [entry["repo"] for entry in entries]


def states(world: World) -> dict[str, DispatchState]:
    """What is kept of each backend."""
    with world.session() as session:
        return {row.repo: row.state for row in session.scalars(select(Dispatch).order_by(Dispatch.id))}


def dispatched(world: World) -> list[str]:
    world.drain()
    return world.github.dispatched_to()


def nightly_only(world: World) -> None:
    """The fixture's list, but `a/l2` wants to hear of nightlies only."""
    assert world.allowlist.text is not None
    world.allowlist.text = world.allowlist.text.replace("- a/l2", "- a/l2: {events: [nightly]}")


@pytest.mark.row("EV01")
def test_one_backend_is_told_once(world: World) -> None:
    world.allowlist.text = "L1: [a/l1]"
    answer = world.webhook("pull_request", pull_request())
    assert (answer.status_code, answer.json()["ok"]) == (200, True)
    world.drain()
    assert [(sent.repo, sent.event_type) for sent in world.github.dispatches] == [("a/l1", "pull_request")]


@pytest.mark.row("EV02")
def test_backends_of_two_organizations_are_told_each(world: World) -> None:
    """That each repository has a token of its own is shown where tokens are made (tests/relay/github)."""
    world.allowlist.text = "L1: [a/one, b/two]"
    world.webhook("pull_request", pull_request())
    assert dispatched(world) == ["a/one", "b/two"]
    assert sorted(world.github.calls) == [("dispatch", "a/one"), ("dispatch", "b/two")]


@pytest.mark.row("EV03")
def test_all_levels_are_told_with_upstreams_webhook_word_for_word(world: World) -> None:
    body = pull_request()
    world.webhook("pull_request", body)
    assert dispatched(world) == ALL
    for sent in world.github.dispatches:
        told = dict(sent.client_payload)
        # Receivers must ignore what they do not know; GitHub allows ten keys.
        proof = told.pop("crcr")
        assert isinstance(proof, Mapping)
        assert proof.keys() == {"nonce", "dispatch_id", "issued_at"}
        assert told == {"event_type": "pull_request", "delivery_id": DELIVERY, "payload": body}


@pytest.mark.row("EV04")
@pytest.mark.parametrize("action", ["reopened", "synchronize", "closed"])
def test_other_changes_of_a_pull_request_are_told(world: World, action: str) -> None:
    assert world.webhook("pull_request", pull_request(action)).status_code == 200
    assert dispatched(world) == ALL


@pytest.mark.row("EV05")
@pytest.mark.parametrize(
    "action", ["assigned", "edited", "converted_to_draft", "ready_for_review", "enqueued", "unlabeled"]
)
def test_what_changes_no_code_is_ignored(world: World, action: str) -> None:
    answer = world.webhook("pull_request", labeled("ciflow/crcr/npu") | {"action": action})
    assert (answer.status_code, answer.json()["ignored"]) == (200, True)
    assert dispatched(world) == []
    assert states(world) == {}


@pytest.mark.row("EV06")
def test_a_push_to_the_branch_is_told(world: World) -> None:
    world.webhook("push", push())
    assert dispatched(world) == ALL
    assert {sent.event_type for sent in world.github.dispatches} == {"push"}
    assert {sent.client_payload["event_type"] for sent in world.github.dispatches} == {"push"}


@pytest.mark.row("EV07")
@pytest.mark.parametrize(
    ("ref", "always"),
    [
        ("refs/heads/gh/u/1/head", False),
        ("refs/tags/v1.0", False),
        ("refs/heads/ciflow/trunk/7", False),
        ("refs/heads/viable/strict", True),
        ("refs/tags/ciflow/trunk/7", True),
    ],
)
def test_pushes_are_told_by_ref(world: World, ref: str, always: bool) -> None:
    answer = world.webhook("push", push(ref))
    assert answer.status_code == 200
    told = always or world.strict
    assert dispatched(world) == (ALL if told else [])
    if not told:
        assert answer.json()["ignored"] is True
        assert ref in answer.json()["reason"]


@pytest.mark.row("EV08")
@pytest.mark.parametrize("ref", ["refs/tags/ciflow/trunk/7", "refs/heads/main"])
def test_a_deleted_ref_is_told_by_the_original_only(world: World, ref: str) -> None:
    answer = world.webhook("push", push(ref, after=ZERO))
    assert answer.status_code == 200
    assert dispatched(world) == (ALL if world.strict else [])
    assert answer.json().get("ignored", False) is not world.strict


@pytest.mark.row("EV09")
def test_an_empty_allowlist_is_no_failure(world: World) -> None:
    world.allowlist.text = ""
    answer = world.webhook("pull_request", pull_request())
    assert answer.status_code == 200
    assert (answer.json()["dispatched"], answer.json()["failed"]) == ([], [])
    assert dispatched(world) == []
    assert world.github.calls == []


# The strict half of these is no row of its own; the rows after them need it, so it is shown beside them.
@pytest.mark.row("EV10", "EV13")
def test_one_backend_that_refuses_is_told_apart(world: World) -> None:
    world.github.refusals[("dispatch", "a/l2")] = REFUSED
    first = world.webhook("pull_request", pull_request())
    assert first.status_code == 200
    assert dispatched(world) == ["a/l1", "a/l3", "a/l4"]
    kept = states(world)
    assert kept.pop("a/l2") is DispatchState.FAILED
    assert set(kept.values()) == {DispatchState.DISPATCHED}
    if world.strict:
        assert sorted(repos(first.json()["dispatched"])) == ["a/l1", "a/l3", "a/l4"]
        assert first.json()["failed"] == [{"repo": "a/l2", "error": "GitHub dispatch failed: Not Found"}]
        assert first.json().keys() == {"ok", "dispatched", "failed"}
    with world.session() as session:
        failed = session.scalars(select(Dispatch).where(Dispatch.repo == "a/l2")).one()
        assert failed.reason == "Not Found"

    world.github.refusals.clear()
    again = world.webhook("pull_request", pull_request())
    assert again.status_code == 200
    world.drain()
    counted = Counter(sent.repo for sent in world.github.dispatches)
    assert counted == ({"a/l1": 2, "a/l2": 1, "a/l3": 2, "a/l4": 2} if world.strict else dict.fromkeys(ALL, 1))
    assert set(states(world).values()) == {DispatchState.DISPATCHED}
    if world.strict:
        assert repos(again.json()["dispatched"]) == ["a/l2"]
        assert sorted(repos(again.json()["failed"])) == ["a/l1", "a/l3", "a/l4"]
    else:
        assert repos(again.json()["queued"]) == ["a/l2"]
        assert sorted(repos(again.json()["dispatched"])) == ["a/l1", "a/l3", "a/l4"]


@pytest.mark.row("EV11", "EV12")
def test_nobody_could_be_told(world: World) -> None:
    for repo in ALL:
        world.github.refusals[("dispatch", repo)] = REFUSED
    answer = world.webhook("pull_request", pull_request())
    world.drain()
    assert set(states(world).values()) == {DispatchState.FAILED}
    if world.strict:
        assert answer.status_code == 502
        detail = answer.json()["detail"]
        assert detail["message"] == "No downstream dispatch succeeded"
        assert sorted(repos(detail["failed"])) == ALL
    else:
        # The answer came before anybody was asked; what failed stands in the record and waits for a replay.
        assert (answer.status_code, repos(answer.json()["queued"])) == (200, ALL)
        with world.session() as session:
            assert set(session.scalars(select(OutboxItem.state))) == {OutboxState.DEAD}


@pytest.mark.row("EV12")
def test_a_delivery_that_was_told_comes_again(world: World) -> None:
    world.webhook("pull_request", pull_request())
    world.drain()
    again = world.webhook("pull_request", pull_request())
    world.drain()
    counted = Counter(sent.repo for sent in world.github.dispatches)
    assert set(states(world).values()) == {DispatchState.DISPATCHED}
    if world.strict:
        assert again.status_code == 502
        assert sorted(repos(again.json()["detail"]["failed"])) == ALL
        assert counted == dict.fromkeys(ALL, 2)
    else:
        assert (again.status_code, again.json()["repeated"]) == (200, True)
        assert repos(again.json()["dispatched"]) == ALL
        assert counted == dict.fromkeys(ALL, 1)


@pytest.mark.row("EV14")
def test_a_dispatch_is_on_record_with_its_time_for_three_days(world: World) -> None:
    world.webhook("pull_request", pull_request())
    world.drain()
    at = world.clock()
    with world.session() as session:
        rows = session.scalars(select(Dispatch)).all()
    assert {(row.delivery_id, row.repo, row.dispatched_at) for row in rows} == {(DELIVERY, repo, at) for repo in ALL}
    assert world.context.settings.crcr_status_ttl_s == timedelta(days=3).total_seconds()


@pytest.mark.row("EV15")
def test_a_record_that_exists_stays_as_it_is(world: World) -> None:
    world.webhook("pull_request", pull_request())
    world.drain()

    def recorded() -> list[tuple[str, object, object, str]]:
        with world.session() as session:
            rows = session.scalars(select(Dispatch).order_by(Dispatch.id))
            return [(row.repo, row.state, row.dispatched_at, row.nonce) for row in rows]

    before = recorded()
    world.clock.tick(60)
    world.webhook("pull_request", pull_request())
    world.drain()
    assert recorded() == before


@pytest.mark.row("EV16")
def test_a_letter_is_on_record_before_it_is_sent(world: World) -> None:
    """The original sent first and could then fail to record. Here the record is what is sent from."""
    world.webhook("pull_request", pull_request())
    assert world.github.calls == []
    with world.session() as session:
        assert session.scalar(select(func.count()).select_from(OutboxItem)) == 4
    assert set(states(world).values()) == {DispatchState.QUEUED}
    assert dispatched(world) == ALL


@pytest.mark.row("EV17")
def test_an_allowlist_that_cannot_be_had_delays_and_loses_nothing(world: World) -> None:
    good, world.allowlist.text = world.allowlist.text, None
    answer = world.webhook("pull_request", pull_request())
    assert answer.status_code == 202
    assert (answer.json()["ok"], answer.json()["dispatched"], answer.json()["failed"]) == (True, [], [])
    assert dispatched(world) == []
    world.allowlist.text = good
    world.clock.tick(60)
    assert dispatched(world) == ALL


@pytest.mark.row("EV18")
def test_a_bad_allowlist_leaves_the_last_good_one_in_force(world: World) -> None:
    """That the bad text is told to operators, and never kept as good, is shown in tests/relay/allowlist."""
    world.allowlist.problem = "line 3: not a list"
    for number, delivery in enumerate(("d1", "d2"), start=1):
        assert world.webhook("pull_request", pull_request(number=number), delivery=delivery).status_code == 200
    assert dispatched(world) == sorted(ALL * 2)


@pytest.mark.row("EV19")
@pytest.mark.parametrize("delivery", [None, ""])
def test_a_delivery_needs_an_id(world: World, delivery: str | None) -> None:
    answer = world.webhook("pull_request", pull_request(), delivery=delivery)
    assert answer.status_code == 400
    assert "X-GitHub-Delivery" in answer.json()["detail"]
    assert states(world) == {}


@pytest.mark.row("EV20")
def test_a_large_payload_is_cut_to_what_github_passes_on(world: World) -> None:
    body = pull_request(labels=("first",))
    body["pull_request"]["body"] = "x" * 70_000
    assert world.webhook("pull_request", body).status_code == 200
    assert dispatched(world) == ALL
    for sent in world.github.dispatches:
        told: dict[str, Any] = dict(sent.client_payload)
        if world.strict:
            assert told == {"event_type": "pull_request", "delivery_id": DELIVERY, "payload": body}
            continue
        assert size_of(told) <= 65_535
        assert told["trim"]["original_bytes"] == size_of(body)
        assert "/pull_request/body" in told["trim"]["removed"]
        pull, original = told["payload"]["pull_request"], body["pull_request"]
        for name in ("number", "state", "draft", "title", "html_url"):
            assert pull[name] == original[name]
        assert [label["name"] for label in pull["labels"]] == ["first"]
        for side in ("head", "base"):
            assert (pull[side]["sha"], pull[side]["ref"]) == (original[side]["sha"], original[side]["ref"])
            assert pull[side]["repo"]["full_name"] == original[side]["repo"]["full_name"]
        assert told["payload"]["repository"]["full_name"] == UPSTREAM


@pytest.mark.row("EV21")
def test_an_l4_backend_has_its_checks_wished_for(world: World) -> None:
    world.webhook("pull_request", pull_request())
    with world.session() as session:
        assert wished(session, UPSTREAM, S1, "a/l4")
        assert session.scalars(select(CheckWish.repo_key)).all() == ["a/l4"]


@pytest.mark.row("EV22")
def test_a_label_that_is_there_already_has_l3_checks_wished_for(world: World) -> None:
    world.webhook("pull_request", pull_request(labels=("other", "ciflow/crcr/npu")))
    with world.session() as session:
        assert wished(session, UPSTREAM, S1, "a/l3")
    world.drain()
    assert world.github.checks == {}


@pytest.mark.row("EV23")
def test_no_check_is_shown_before_a_job_reports(world: World) -> None:
    world.webhook("pull_request", pull_request())
    world.drain()
    assert world.github.checks == {}
    assert {method for method, _ in world.github.calls} == {"dispatch"}


@pytest.mark.row("EV24")
def test_no_more_are_told_at_once_than_there_are_workers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = world.context.settings.crcr_dispatch_workers
    world.allowlist.text = "L1: [" + ", ".join(f"o/r{number}" for number in range(2 * workers)) + "]"
    lock, now, most = threading.Lock(), [0], [0]
    real = world.github.dispatch

    def counted(repo: str, event_type: str, client_payload: Mapping[str, object]) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.005)
        with lock:
            now[0] -= 1
            real(repo, event_type, client_payload)

    monkeypatch.setattr(world.github, "dispatch", counted)
    world.webhook("pull_request", pull_request())
    assert len(dispatched(world)) == 2 * workers
    assert 1 < most[0] <= workers


@pytest.mark.row("EV25")
def test_a_backend_of_nightlies_does_not_hear_of_pull_requests(world: World) -> None:
    nightly_only(world)
    world.webhook("pull_request", pull_request())
    assert dispatched(world) == ["a/l1", "a/l3", "a/l4"]
    assert "a/l2" not in states(world)


@pytest.mark.row("EV26")
def test_a_backend_of_nightlies_does_not_hear_of_pushes(world: World) -> None:
    nightly_only(world)
    world.webhook("push", push("refs/tags/ciflow/trunk/7"))
    assert dispatched(world) == ["a/l1", "a/l3", "a/l4"]


@pytest.mark.row("EV27")
def test_a_backend_of_pull_requests_hears_of_pushes(world: World) -> None:
    world.allowlist.text = "L2:\n  - a/l2: {events: [pull_request]}\n"
    world.webhook("push", push())
    assert dispatched(world) == ["a/l2"]
