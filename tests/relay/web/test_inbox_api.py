"""The inbox over HTTP: what arrived and what came of it, without what it held."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.store.models import DeliveryState
from tests.relay.web.test_page_deliveries import arrived, dispatched

PATH = "/api/v1/inbox"


def test_webhooks_are_listed_newest_first_with_counts_of_all(client: TestClient, context: RelayContext) -> None:
    ids = [arrived(context, f"d-{number}", payload=b'{"secret": "in the payload"}') for number in range(3)]
    ids.append(arrived(context, "d-9", state=DeliveryState.IGNORED, note="a tag"))
    answer = client.get(PATH, params={"limit": 2})
    page = answer.json()
    assert [one["id"] for one in page["deliveries"]] == ids[:-3:-1]
    assert page["counts"] == {"processed": 3, "ignored": 1}
    assert "in the payload" not in answer.text
    rest = client.get(PATH, params={"before": page["next_before"]}).json()
    assert [one["id"] for one in rest["deliveries"]] == ids[1::-1]
    assert rest["next_before"] is None


def test_webhooks_are_found_by_state_and_by_name(client: TestClient, context: RelayContext) -> None:
    arrived(context, "d-1")
    arrived(context, "d-2", state=DeliveryState.FAILED, note="no base")
    assert [one["note"] for one in client.get(PATH, params={"state": "failed"}).json()["deliveries"]] == ["no base"]
    found = client.get(PATH, params={"delivery_id": "d-1"}).json()["deliveries"]
    assert [one["delivery_id"] for one in found] == ["d-1"]


def test_one_webhook_tells_its_size_and_whom_it_was_told_to(client: TestClient, context: RelayContext) -> None:
    row = arrived(context, "d-1", payload="€".encode() * 10)
    dispatched(context, "d-1")
    answer = client.get(f"{PATH}/{row}")
    assert answer.json()["bytes"] == 30
    assert [one["repo"] for one in answer.json()["dispatches"]] == ["a/l2"]
    assert "secret-proof" not in answer.text


@pytest.mark.parametrize(("path", "status"), [("/7", 404), ("/0", 422), ("/x", 422), (f"/{2**31}", 422)])
def test_an_unknown_webhook_is_told_from_a_wrong_question(client: TestClient, path: str, status: int) -> None:
    assert client.get(f"{PATH}{path}").status_code == status


@pytest.mark.parametrize("query", [{"state": "odd"}, {"limit": 0}, {"before": 2**31}])
def test_a_wrong_question_is_422(client: TestClient, query: dict[str, str | int]) -> None:
    assert client.get(PATH, params=query).status_code == 422
