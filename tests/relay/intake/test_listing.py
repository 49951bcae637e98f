"""The inbox is read without its payloads, on both databases."""

from __future__ import annotations

import pytest

from relay.errors import NotFoundError
from relay.intake.listing import DeliveryFilter, delivery_detail, list_deliveries
from relay.store.engine import Store
from relay.store.models import Delivery, DeliveryState
from tests.relay.stories import START
from tests.relay.web.readers import statements


@pytest.fixture
def inbox(store: Store) -> Store:
    with store.writing() as session:
        for number in range(5):
            session.add(
                Delivery(
                    delivery_id=f"d-{number}",
                    event="push",
                    body_sha256="f" * 64,
                    payload=b"\x00\xff" * (number + 1),
                    received_at=START,
                    state=DeliveryState.RECEIVED if number % 2 else DeliveryState.PROCESSED,
                )
            )
    return store


def test_pages_follow_each_other_without_gaps(inbox: Store) -> None:
    seen: list[str] = []
    before: int | None = None
    with inbox.reading() as session:
        while True:
            page = list_deliveries(session, DeliveryFilter(), limit=2, before=before)
            seen += [one.delivery_id for one in page.deliveries]
            before = page.next_before
            if before is None:
                break
    assert seen == ["d-4", "d-3", "d-2", "d-1", "d-0"]
    assert page.counts == {DeliveryState.RECEIVED: 2, DeliveryState.PROCESSED: 3}


def test_a_list_reads_no_payload(inbox: Store) -> None:
    with statements(inbox.engine) as seen, inbox.reading() as session:
        list_deliveries(session, DeliveryFilter(state=DeliveryState.PROCESSED), limit=2, before=None)
    assert not [statement for statement in seen if "payload" in statement]


def test_the_size_is_in_bytes(inbox: Store) -> None:
    with inbox.reading() as session:
        found = list_deliveries(session, DeliveryFilter(delivery_id="d-3"), limit=2, before=None)
        assert delivery_detail(session, found.deliveries[0].id).bytes == 8


def test_an_unknown_delivery_is_an_error(inbox: Store) -> None:
    with inbox.reading() as session, pytest.raises(NotFoundError):
        delivery_detail(session, 4711)
