"""The books of dispatches: what is written when, and what a sender does when its record has holes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import delete, update

from relay.context import RelayContext
from relay.crcr.dispatching import senders
from relay.github.types import GitHubError
from relay.intake.bodies import remove_bodies
from relay.outbox.queue import NewItem, enqueue_all
from relay.outbox.types import Sent, Undeliverable
from relay.parts import CrcrParts
from relay.store.crcr_models import Dispatch, DispatchState, OutboxItem, OutboxKind, OutboxState
from relay.store.models import Delivery, DeliveryState
from tests.relay.crcr.stage import NoVerifier
from tests.relay.crcr.telling import Telling, telling


@pytest.fixture
def story(context: RelayContext) -> Iterator[Telling]:
    """Four backends are to be told of a pull request."""
    with telling(context) as made:
        made.receive()
        yield made


def test_there_is_a_sender_for_what_can_be_sent(story: Telling) -> None:
    assert set(senders(story.context)) == {OutboxKind.PLAN, OutboxKind.DISPATCH, OutboxKind.REDELIVER}
    without_app = replace(story.context, crcr=CrcrParts(story.allowlist, NoVerifier(), None))
    assert set(senders(without_app)) == {OutboxKind.PLAN}
    assert senders(replace(story.context, crcr=None)) == {}


def test_a_delivery_that_is_gone_is_not_sent(story: Telling) -> None:
    with story.context.store.writing() as session:
        session.execute(delete(Delivery))
    story.drain()
    assert story.github.calls == []
    assert {row.reason for row in story.dispatches().values()} == {"the delivery d1 is not in the record"}


def empty_webhooks(story: Telling) -> None:
    """As after a long time; what was not handled would keep its body."""
    with story.context.store.writing() as session:
        session.execute(update(Delivery).values(state=DeliveryState.PROCESSED))
        assert remove_bodies(session, story.clock() + timedelta(days=1), story.clock(), limit=10) == 1


def test_a_delivery_whose_body_was_removed_is_not_sent_as_an_empty_one(story: Telling) -> None:
    empty_webhooks(story)
    story.drain()
    assert story.github.calls == []
    reason = "the body of the delivery d1 was removed for its age"
    assert {row.reason for row in story.dispatches().values()} == {reason}


def test_a_webhook_without_its_body_is_not_decided_about(story: Telling) -> None:
    """A plan that waited for the allowlist until its webhook was emptied ends without a word to anybody."""
    with story.context.store.writing() as session:
        enqueue_all(session, [NewItem(OutboxKind.PLAN, "late", "late", "d1", {})], story.clock())
    empty_webhooks(story)
    before = len(story.dispatches())
    story.drain()
    (late,) = [letter for letter in story.letters() if letter.key == "late"]
    assert late.state is OutboxState.SENT
    assert len(story.dispatches()) == before


def test_a_dispatch_that_is_gone_is_not_sent(story: Telling) -> None:
    with story.context.store.writing() as session:
        enqueue_all(session, [NewItem(OutboxKind.DISPATCH, "odd", "odd", "a/l2", {})], story.clock())
    story.drain()
    (odd,) = [letter for letter in story.letters() if letter.key == "odd"]
    assert (odd.state, odd.last_error) == (OutboxState.DEAD, "the dispatch None is not in the record")


def test_what_was_accepted_stays_so(story: Telling) -> None:
    story.drain()
    before = {repo: (row.state, row.dispatched_at) for repo, row in story.dispatches().items()}
    story.clock.tick(60)
    sender = senders(story.context)[OutboxKind.DISPATCH]
    with story.context.store.writing() as session:
        for item in session.query(OutboxItem).all():
            sender.settle(session, item, Undeliverable("late"), story.clock())
            sender.settle(session, item, Sent({"trim": {"removed": []}}), story.clock())
    assert {repo: (row.state, row.dispatched_at) for repo, row in story.dispatches().items()} == before
    assert all(row.trim is None for row in story.dispatches().values())


def test_a_failed_dispatch_that_is_sent_after_all_is_dispatched(story: Telling) -> None:
    with story.context.store.writing() as session:
        session.execute(update(Dispatch).values(state=DispatchState.FAILED, reason="once"))
    story.drain()
    assert {(row.state, row.reason) for row in story.dispatches().values()} == {(DispatchState.DISPATCHED, "")}


def test_the_payload_is_read_once_for_all_backends(story: Telling) -> None:
    """And none of them can change it for the others: it is the same object that is sent."""
    story.drain()
    payloads = {id(sent.client_payload["payload"]) for sent in story.github.dispatches}
    assert len(payloads) == 1


def test_many_deliveries_are_not_all_kept_at_hand(story: Telling) -> None:
    for number in range(40):
        story.receive(delivery=f"m{number}")
    story.drain()
    sender = story.outbox._senders[OutboxKind.DISPATCH]
    kept: Mapping[str, object] = sender._envelopes._payloads  # type: ignore[attr-defined]  # what it holds is its own
    assert 0 < len(kept) <= 16
    assert len(story.github.dispatches) == 4 * 41


@pytest.mark.parametrize(
    ("error", "state"),
    [(GitHubError("no", status=404), OutboxState.DEAD), (GitHubError("away"), OutboxState.DUE)],
)
def test_a_redelivery_is_asked_for_as_any_letter(story: Telling, error: GitHubError, state: OutboxState) -> None:
    with story.context.store.writing() as session:
        enqueue_all(session, [NewItem(OutboxKind.REDELIVER, "r", "r", "guid", {"delivery": 5})], story.clock())
    story.github.fail("redeliver", error)
    story.drain()
    (letter,) = [one for one in story.letters() if one.key == "r"]
    assert (letter.state, letter.last_error) == (state, error.message)
