"""A webhook is kept and decided about in one go, and what it asks for is done once, whatever fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http import HTTPStatus
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from relay.context import RelayContext
from relay.crcr.asked import Incoming
from relay.crcr.receiving import WebhookFailedError, refresh_allowlist, touches_allowlist
from relay.crcr.trimming import size_of
from relay.errors import ConflictError
from relay.github.types import GitHubError
from relay.outbox.replay import replay
from relay.store.crcr_models import Dispatch, DispatchState, OutboxItem, OutboxKind, OutboxState
from relay.store.engine import Store
from relay.store.models import Delivery
from tests.conformance.payloads import S1, S2, ZERO, labeled, pull_request, push
from tests.relay.crcr.telling import Telling, telling
from tests.relay.meanwhile import meanwhile

ALL = ["a/l1", "a/l2", "a/l3", "a/l4"]


@pytest.fixture
def story(context: RelayContext) -> Iterator[Telling]:
    """On SQLite."""
    with telling(context) as made:
        yield made


@pytest.fixture
def shared(context: RelayContext, store: Store) -> Iterator[Telling]:
    """Once on SQLite, once on PostgreSQL."""
    with telling(context, store) as made:
        yield made


def entries(*repos: str) -> list[dict[str, str]]:
    return [{"repo": repo} for repo in repos]


def test_a_webhook_is_answered_with_whom_it_will_be_told(shared: Telling) -> None:
    received = shared.receive()
    assert received.answer == {"ok": True, "dispatched": [], "failed": [], "queued": entries(*ALL)}
    assert shared.github.calls == []
    assert shared.drain() == 4
    assert shared.github.dispatched_to() == ALL
    for row in shared.dispatches().values():
        assert (row.state, row.dispatched_at, row.pr_number, row.head_sha) == (
            DispatchState.DISPATCHED,
            shared.clock.at,
            7,
            S1,
        )
    assert shared.drain() == 0


def test_a_letter_is_small_and_holds_no_payload(story: Telling) -> None:
    story.receive()
    assert [letter.body for letter in story.letters()] == [{}] * 4


def test_a_storm_of_the_same_delivery_is_one_delivery(shared: Telling) -> None:
    with ThreadPoolExecutor(16) as pool:
        received = list(pool.map(lambda _: shared.receive(), range(50)))
    assert Counter(one.repeated for one in received) == {True: 49, False: 1}
    assert all(one.status is HTTPStatus.OK for one in received)
    shared.drain()
    assert Counter(sent.repo for sent in shared.github.dispatches) == dict.fromkeys(ALL, 1)


def test_two_hundred_backends_are_told_once_each_though_many_calls_fail(shared: Telling) -> None:
    repos = [f"o{number}/r" for number in range(200)]
    shared.allowlist.text = "L1:\n" + "".join(f"  - {repo}\n" for repo in repos)
    shared.github.fail("dispatch", *[GitHubError("away", status=500)] * 70)
    shared.github.fail("dispatch", *[GitHubError("slow down", status=403, retry_after_s=30.0)] * 30)
    shared.receive()
    shared.drain()
    assert len(shared.github.dispatches) == 100
    shared.drain(60)
    assert Counter(sent.repo for sent in shared.github.dispatches) == dict.fromkeys(repos, 1)
    assert {row.state for row in shared.dispatches().values()} == {DispatchState.DISPATCHED}


def test_a_process_that_dies_after_its_answer_loses_nothing(story: Telling) -> None:
    story.receive()
    story.renew()
    story.drain()
    assert story.github.dispatched_to() == ALL


def test_a_process_that_dies_while_keeping_a_webhook_kept_nothing(
    story: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("relay.crcr.dispatch_plan.enqueue_all", die)
    with pytest.raises(KeyboardInterrupt):
        story.receive()
    monkeypatch.undo()
    with story.context.store.reading() as session:
        assert session.scalar(select(func.count()).select_from(Delivery)) == 0
    assert (story.dispatches(), story.receive().repeated) == ({}, False)
    story.drain()
    assert story.github.dispatched_to() == ALL


@pytest.mark.parametrize(
    "fault",
    [
        GitHubError("no answer"),
        GitHubError("bad gateway", status=502),
        GitHubError("slow down", status=429, retry_after_s=50.0),
        GitHubError("rate limit", status=403, retry_after_s=50.0),
    ],
)
def test_what_may_pass_is_tried_again_and_only_for_the_backend_it_hit(story: Telling, fault: GitHubError) -> None:
    story.github.refusals[("dispatch", "a/l2")] = fault
    story.receive()
    story.drain()
    waiting = story.dispatches()["a/l2"]
    assert (waiting.state, waiting.reason) == (DispatchState.QUEUED, fault.message)
    assert story.github.dispatched_to() == ["a/l1", "a/l3", "a/l4"]
    story.github.refusals.clear()
    if fault.retry_after_s:
        assert story.drain(49) == 0
    story.drain(60)
    assert story.github.dispatched_to() == ALL
    assert story.dispatches()["a/l2"].reason == ""


def test_a_refusal_is_final_until_the_delivery_comes_again(shared: Telling) -> None:
    shared.github.refusals[("dispatch", "a/l2")] = GitHubError("Not Found", status=404)
    shared.receive()
    shared.drain()
    shared.drain(100_000)
    assert shared.dispatches()["a/l2"].state is DispatchState.FAILED
    assert shared.github.calls.count(("dispatch", "a/l2")) == 1
    shared.github.refusals.clear()
    again = shared.receive()
    assert again.answer == {
        "ok": True,
        "dispatched": entries("a/l1", "a/l3", "a/l4"),
        "failed": [],
        "queued": entries("a/l2"),
    }
    shared.drain()
    assert shared.github.dispatched_to() == ALL
    assert shared.receive().answer["dispatched"] == entries(*ALL)


def test_a_delivery_that_comes_again_does_not_undo_what_was_sent_meanwhile(shared: Telling) -> None:
    """Another process has woken the dead letter and sent it, and has not committed that yet."""
    shared.github.refusals[("dispatch", "a/l2")] = GitHubError("Not Found", status=404)
    shared.receive()
    shared.drain()
    failed = shared.dispatches()["a/l2"].id

    def sent(session: Session) -> None:
        letter = session.scalars(select(OutboxItem).where(OutboxItem.dispatch_id == failed)).one()
        letter.state, letter.settled_at = OutboxState.SENT, shared.clock()
        dispatch = session.get_one(Dispatch, failed)
        dispatch.state, dispatch.dispatched_at, dispatch.reason = DispatchState.DISPATCHED, shared.clock(), ""

    again = meanwhile(shared.context.store, sent, shared.receive)
    assert again.answer == {"ok": True, "dispatched": entries(*ALL), "failed": [], "queued": []}
    assert shared.dispatches()["a/l2"].state is DispatchState.DISPATCHED


def test_a_failed_dispatch_without_a_letter_to_wake_stays_failed(shared: Telling) -> None:
    """Its letter was forgotten: nobody would send what is called queued."""
    shared.github.refusals[("dispatch", "a/l2")] = GitHubError("Not Found", status=404)
    shared.receive()
    shared.drain()
    with shared.context.store.writing() as session:
        session.execute(delete(OutboxItem).where(OutboxItem.state == OutboxState.DEAD))
    assert [one["repo"] for one in shared.receive().answer["failed"]] == ["a/l2"]
    assert shared.dispatches()["a/l2"].state is DispatchState.FAILED


def test_a_dead_dispatch_can_be_replayed(story: Telling) -> None:
    story.github.refusals[("dispatch", "a/l2")] = GitHubError("Not Found", status=404)
    story.receive()
    story.drain()
    answer = story.receive(payload=pull_request(), delivery="other").answer
    assert answer["failed"] == []
    (dead,) = [letter for letter in story.letters() if letter.state is OutboxState.DEAD]
    story.github.refusals.clear()
    with story.context.store.writing() as session:
        replay(session, [dead.id], story.clock())
    story.drain()
    assert Counter(sent.repo for sent in story.github.dispatches) == dict.fromkeys(ALL, 2)


def test_a_delivery_that_comes_again_tells_nobody_new(story: Telling) -> None:
    """Whom to tell is decided once: a backend that was listed since has not missed anything."""
    story.receive()
    story.allowlist.text = "L1: [a/l1, new/one]\n"
    assert story.receive().answer["queued"] == entries(*ALL)
    story.drain()
    assert story.github.dispatched_to() == ALL


def test_a_backend_that_left_the_list_is_not_tried_again(story: Telling) -> None:
    story.github.fail("dispatch", *[GitHubError("away", status=500)] * 4)
    story.receive()
    story.drain()
    story.allowlist.text = "L1: [A/L1]\n"
    story.drain(10)
    assert story.github.dispatched_to() == ["a/l1"]
    states = {repo: row.state for repo, row in story.dispatches().items()}
    assert states["a/l2"] is DispatchState.WITHDRAWN
    assert states["a/l1"] is DispatchState.DISPATCHED
    story.allowlist.text = None
    assert (
        "no longer on the allowlist" in story.receive().answer["failed"][0]["error"] if story.allowlist.text else True
    )


def test_the_id_of_another_delivery_is_refused(story: Telling) -> None:
    story.receive()
    with pytest.raises(ConflictError):
        story.receive(payload=pull_request("synchronize"))
    assert len(story.dispatches()) == 4


def test_events_of_a_pull_request_reach_a_backend_in_order(shared: Telling) -> None:
    """However often the first ones fail, and whichever process sends them."""
    actions = ("opened", "synchronize", "closed")
    shared.github.fail("dispatch", *[GitHubError("away", status=500)] * 6)
    for number, action in enumerate(actions):
        shared.receive(payload=pull_request(action), delivery=f"d{number}")
    for _ in range(6):
        shared.renew()
        shared.drain(60)
    for repo in ALL:
        heard = [sent.client_payload["payload"] for sent in shared.github.dispatches if sent.repo == repo]
        assert [payload["action"] for payload in heard if isinstance(payload, dict)] == list(actions)


def test_pushes_to_a_ref_are_ordered_apart_from_those_to_another(story: Telling) -> None:
    story.github.fail("dispatch", GitHubError("away", status=500))
    story.allowlist.text = "L1: [a/l1]\n"
    story.receive("push", push(), delivery="p1")
    story.drain()
    story.receive("push", push(after=S2), delivery="p2")
    story.receive("push", push("refs/tags/ciflow/trunk/7"), delivery="p3")
    story.drain()
    assert [sent.client_payload["delivery_id"] for sent in story.github.dispatches] == ["p3"]
    story.drain(10)
    assert [sent.client_payload["delivery_id"] for sent in story.github.dispatches] == ["p3", "p1", "p2"]


def test_without_an_allowlist_the_webhook_is_kept_and_decided_about_later(shared: Telling) -> None:
    shared.allowlist.text = None
    received = shared.receive()
    assert (received.status, received.answer["queued"]) == (HTTPStatus.ACCEPTED, [])
    assert shared.receive().status is HTTPStatus.ACCEPTED
    shared.drain()
    assert shared.dispatches() == {}
    shared.allowlist.text = "L1: [a/l1]\nL4: [a/l4]\n"
    shared.drain(10)
    assert shared.github.dispatched_to() == ["a/l1", "a/l4"]
    assert list(shared.wishes()) == ["a/l4"]
    shared.receive()
    assert shared.drain(10) == 0


def test_a_decided_delivery_that_comes_again_without_an_allowlist_is_not_decided_anew(shared: Telling) -> None:
    shared.github.refusals[("dispatch", "a/l2")] = GitHubError("Not Found", status=404)
    shared.receive()
    shared.drain()
    shared.github.refusals.clear()
    shared.allowlist.text = None
    again = shared.receive()
    assert (again.status, again.answer["queued"]) == (HTTPStatus.OK, entries("a/l2"))
    shared.allowlist.text = "L1: [a/l1, new/one]\n"
    shared.drain(10)
    assert shared.github.dispatched_to() == ALL
    assert {letter.state for letter in shared.letters()} == {OutboxState.SENT}


def test_a_label_without_an_allowlist_is_kept_too(story: Telling) -> None:
    story.allowlist.text = None
    assert story.receive(payload=labeled("ciflow/crcr/npu")).status is HTTPStatus.ACCEPTED
    story.allowlist.text = "L3:\n  npu:\n    a/l3: [x]\n"
    story.drain(10)
    assert list(story.wishes()) == ["a/l3"]


def test_a_label_that_comes_twice_is_answered_alike(story: Telling) -> None:
    answers = [story.receive(payload=labeled("ciflow/crcr/npu")).answer for _ in range(2)]
    assert answers == [{"ok": True, "created_check_runs": []}] * 2
    assert len(story.wishes()) == 1


def test_checks_are_wished_for_at_l4_and_by_label_at_l3(story: Telling) -> None:
    story.receive()
    assert {key: row.reason for key, row in story.wishes().items()} == {"a/l4": "the level L4"}
    story.receive(payload=pull_request("synchronize", sha=S2, labels=("ciflow/crcr/npu",)), delivery="d2")
    by_sha = {(row.head_sha, row.repo_key) for row in story.wishes().values()}
    assert (S2, "a/l3") in by_sha
    assert {row.upstream_repo for row in story.wishes().values()} == {"pytorch/pytorch"}


@pytest.mark.parametrize(
    ("event", "payload", "wished"),
    [
        ("push", push("refs/tags/ciflow/trunk/7"), ["a/l4"]),
        ("push", push(), []),
        ("pull_request", pull_request("closed"), []),
        ("pull_request", pull_request(pull_request=None), []),
    ],
)
def test_checks_are_wished_for_where_there_is_a_pull_request_to_look_at(
    story: Telling, event: str, payload: dict[str, Any], wished: list[str]
) -> None:
    story.receive(event, payload)
    assert list(story.wishes()) == wished


def test_a_large_payload_is_cut_for_all_and_the_cut_is_on_record(story: Telling) -> None:
    payload = pull_request()
    payload["pull_request"]["body"] = "x" * 70_000
    story.receive(payload=payload)
    story.drain()
    for sent in story.github.dispatches:
        assert size_of(sent.client_payload) <= 65_535
        assert set(sent.client_payload) == {"event_type", "delivery_id", "payload", "crcr", "trim"}
    assert all(row.trim and "/pull_request/body" in row.trim["removed"] for row in story.dispatches().values())


def test_a_payload_that_cannot_be_cut_fails_at_once_and_says_so(story: Telling) -> None:
    payload = pull_request()
    payload["pull_request"]["title"] = "x" * 70_000
    story.receive(payload=payload)
    story.drain()
    assert story.github.calls == []
    for row in story.dispatches().values():
        assert row.state is DispatchState.FAILED
        assert "bytes" in row.reason
    assert {letter.state for letter in story.letters()} == {OutboxState.DEAD}


def test_each_backend_gets_a_proof_of_its_own(story: Telling) -> None:
    story.receive()
    story.drain()
    proofs = [sent.client_payload["crcr"] for sent in story.github.dispatches]
    assert len({str(proof["nonce"]) for proof in proofs if isinstance(proof, dict)}) == 4


def test_without_an_app_letters_wait(story: Telling) -> None:
    parts = story.context.crcr
    assert parts is not None
    story.context = RelayContext(
        story.context.settings,
        story.context.store,
        story.context.waker,
        story.context.backends,
        crcr=type(parts)(story.allowlist, parts.verifier, None),
        now=story.clock,
    )
    story.renew()
    story.receive()
    assert story.drain() == 0
    assert {letter.kind for letter in story.letters()} == {OutboxKind.DISPATCH}


def look_after(story: Telling, payload: dict[str, Any]) -> None:
    """What is done about the allowlist once a push was answered."""
    parts = story.context.crcr
    assert parts is not None
    if touches_allowlist(parts, Incoming("push", "d1", b"", payload)):
        refresh_allowlist(parts)


@pytest.mark.parametrize(
    ("payload", "refreshes"),
    [
        (push(commits=[{"modified": [".github/allowlist.yml"]}]), 1),
        (push(commits=[], head_commit={"added": [".github/allowlist.yml"]}), 1),
        (push(), 0),
        (push("refs/heads/other", commits=[{"modified": [".github/allowlist.yml"]}]), 0),
        (push(commits=None, head_commit=None), 0),
        (push(commits=[None, {"modified": None}, {"modified": [None]}]), 0),
        (push(repository=None), 0),
        (push(after=ZERO), 0),
    ],
)
def test_a_push_that_touches_the_allowlist_has_it_read_again(
    story: Telling, payload: dict[str, Any], refreshes: int
) -> None:
    look_after(story, payload)
    assert story.allowlist.refreshes == refreshes


def test_an_allowlist_that_cannot_be_read_again_is_no_fault_of_the_webhook(story: Telling) -> None:
    story.allowlist.text = None
    touching = push(commits=[{"modified": [".github/allowlist.yml"]}])
    look_after(story, touching)
    assert story.allowlist.refreshes == 1


def test_a_failed_rerun_is_502(story: Telling) -> None:
    payload = {"action": "rerequested", "check_suite": {"id": 5}}
    story.github.fail("suite_check_runs", GitHubError("away", status=500))
    with pytest.raises(WebhookFailedError) as failure:
        story.receive("check_suite", payload)
    assert failure.value.status is HTTPStatus.BAD_GATEWAY


def test_a_rerun_without_an_allowlist_is_503(story: Telling) -> None:
    story.allowlist.text = None
    check = {"name": "crcr/a/l3/CI/build", "external_id": "55:7"}
    with pytest.raises(WebhookFailedError) as failure:
        story.receive("check_run", {"action": "rerequested", "check_run": check})
    assert failure.value.status is HTTPStatus.SERVICE_UNAVAILABLE


def test_in_the_strict_mode_a_process_that_dies_before_it_sends_loses_nothing(
    story: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    story.set(crcr_strict_compat=True)
    monkeypatch.setattr("relay.crcr.receiving.dispatch_inline", die)
    with pytest.raises(KeyboardInterrupt):
        story.receive()
    assert story.drain() == 0
    story.drain(121)
    assert story.github.dispatched_to() == ALL


def test_in_the_strict_mode_the_background_never_sends_what_the_webhook_sends(story: Telling) -> None:
    story.set(crcr_strict_compat=True)
    story.outbox.start()
    story.receive()
    story.outbox.stop()
    assert Counter(sent.repo for sent in story.github.dispatches) == dict.fromkeys(ALL, 1)


def test_queued_moments_are_the_relays(story: Telling) -> None:
    story.receive()
    story.drain(90)
    moments = [(row.queued_at, row.dispatched_at or row.queued_at) for row in story.dispatches().values()]
    assert all(sent - queued == timedelta(seconds=90) for queued, sent in moments)
    assert all(one.id < other.id for one, other in pairwise(story.letters()))
