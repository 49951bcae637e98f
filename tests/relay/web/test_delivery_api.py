"""The outbox over HTTP: what is listed, what is shown, who may replay what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.outbox.queue import NewItem, enqueue_all
from relay.outbox.views import LetterState
from relay.store.crcr_models import Dispatch, DispatchState, OutboxItem, OutboxKind, OutboxState
from tests.relay.stories import START

pytestmark = pytest.mark.both_setups

PATH = "/api/v1/outbox"


def put(context: RelayContext, count: int, **changes: Any) -> Sequence[int]:
    """Rows, and with one of them a proof that must stay inside."""
    with context.store.writing() as session:
        kind, target = changes.pop("kind", OutboxKind.HUD), changes.pop("target", "https://hud.example/api")
        body = {"crcr": {"nonce": "secret-proof"}}
        keys = [f"{kind}/{target}/{number}" for number in range(count)]
        ids = enqueue_all(session, [NewItem(kind, key, key, target, body) for key in keys], START)
        for row in ids:
            item = session.get_one(OutboxItem, row)
            for name, value in changes.items():
                setattr(item, name, value)
    return ids


def dead(context: RelayContext, count: int = 1, **changes: Any) -> Sequence[int]:
    died = {"state": OutboxState.DEAD, "settled_at": START, "last_error": "HTTP 404", "last_status": 404, "attempts": 3}
    return put(context, count, **died | changes)


def test_states_are_the_same_words_everywhere() -> None:
    assert [state.value for state in LetterState] == [state.value for state in OutboxState]


def test_letters_are_listed_newest_first_with_counts_of_all(client: TestClient, context: RelayContext) -> None:
    ids = [*put(context, 3), *dead(context, 2, kind=OutboxKind.DISPATCH, target="A/l2")]
    page = client.get(PATH, params={"limit": 2}).json()
    assert [letter["id"] for letter in page["letters"]] == ids[:-3:-1]
    assert page["counts"] == {"due": 3, "dead": 2}
    assert page["letters"][0] == {
        "id": ids[-1],
        "kind": "dispatch",
        "state": "dead",
        "target": "A/l2",
        "attempts": 3,
        "due_at": START.isoformat().replace("+00:00", "Z"),
        "created_at": START.isoformat().replace("+00:00", "Z"),
        "settled_at": START.isoformat().replace("+00:00", "Z"),
        "status": 404,
        "error": "HTTP 404",
    }
    rest = client.get(PATH, params={"before": page["next_before"]}).json()
    assert [letter["id"] for letter in rest["letters"]] == ids[-3::-1]
    assert rest["next_before"] is None


@pytest.mark.parametrize(
    ("query", "count"),
    [({"state": "dead"}, 2), ({"kind": "hud"}, 3), ({"target": "a/L2"}, 2), ({"state": "due", "target": "a/l2"}, 0)],
)
def test_letters_are_found_by_state_kind_and_target(
    client: TestClient, context: RelayContext, query: dict[str, str], count: int
) -> None:
    put(context, 3)
    dead(context, 2, kind=OutboxKind.DISPATCH, target="A/l2")
    page = client.get(PATH, params=query).json()
    assert (len(page["letters"]), sum(page["counts"].values())) == (count, count)


@pytest.mark.parametrize("query", [{"state": "lost"}, {"kind": "pigeon"}, {"limit": 0}, {"before": 2**31}])
def test_a_wrong_question_is_422(client: TestClient, query: dict[str, str | int]) -> None:
    assert client.get(PATH, params=query).status_code == 422


def test_a_letter_is_shown_with_its_dispatch_and_without_its_body(client: TestClient, context: RelayContext) -> None:
    dispatch = Dispatch(
        delivery_id="d1",
        repo="a/l2",
        repo_key="a/l2",
        level="L2",
        event_type="pull_request",
        upstream_repo="pytorch/pytorch",
        pr_number=7,
        head_sha="1" * 40,
        nonce="secret-proof",
        state=DispatchState.FAILED,
        reason="HTTP 404",
        queued_at=START,
    )
    with context.store.writing() as session:
        session.add(dispatch)
    (row,) = dead(context, kind=OutboxKind.DISPATCH, target="a/l2", dispatch_id=dispatch.id)
    answer = client.get(f"{PATH}/{row}")
    assert "secret-proof" not in answer.text + client.get(PATH).text
    assert answer.json()["dispatch"] == {
        "delivery_id": "d1",
        "repo": "a/l2",
        "level": "L2",
        "event": "pull_request",
        "pr_number": 7,
        "head_sha": "1" * 40,
        "state": "failed",
        "reason": "HTTP 404",
    }
    (other,) = put(context, 1)
    assert client.get(f"{PATH}/{other}").json()["dispatch"] is None


def test_an_unknown_letter_is_404(client: TestClient) -> None:
    answer = client.get(f"{PATH}/7")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_replay_takes_the_operator(client: TestClient, context: RelayContext, worker_auth: dict[str, str]) -> None:
    ids = list(dead(context))
    for headers in ({}, worker_auth):
        refused = client.post(f"{PATH}/replay", json={"ids": ids}, headers=headers)
        assert refused.status_code == (403 if headers else 401)
    assert client.get(f"{PATH}/{ids[0]}").json()["letter"]["state"] == "dead"


def test_a_replay_makes_dead_letters_due_and_leaves_others(
    client: TestClient, context: RelayContext, operator_auth: dict[str, str]
) -> None:
    (gone,), (waiting,) = dead(context), put(context, 1, kind=OutboxKind.CANCEL)
    asked = {"ids": [waiting, gone, gone]}
    answer = client.post(f"{PATH}/replay", json=asked, headers=operator_auth)
    assert answer.json() == {"replayed": [gone], "untouched": [waiting]}
    letter = client.get(f"{PATH}/{gone}").json()["letter"]
    assert (letter["state"], letter["attempts"], letter["settled_at"]) == ("due", 0, None)


@pytest.mark.parametrize("unknown", [999, 2**31, 2**70, 0, -1])
def test_a_replay_of_something_unknown_changes_nothing(
    client: TestClient, context: RelayContext, operator_auth: dict[str, str], unknown: int
) -> None:
    (gone,) = dead(context)
    answer = client.post(f"{PATH}/replay", json={"ids": [gone, unknown]}, headers=operator_auth)
    assert answer.status_code == 404
    assert client.get(f"{PATH}/{gone}").json()["letter"]["state"] == "dead"


@pytest.mark.parametrize("body", [{}, {"ids": []}, {"ids": ["x"]}, {"ids": list(range(1, 502))}, None])
def test_a_replay_of_nothing_or_too_much_is_422(
    client: TestClient, operator_auth: dict[str, str], body: dict[str, object] | None
) -> None:
    assert client.post(f"{PATH}/replay", json=body, headers=operator_auth).status_code == 422
