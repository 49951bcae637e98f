"""The pages of deliveries: what is dead comes first with why and what to do; a sign-in sends it again from there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from relay.context import RelayContext
from relay.outbox.queue import NewItem, enqueue_all
from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch, DispatchState, OutboxItem, OutboxKind, OutboxState
from relay.store.models import Delivery, DeliveryState
from tests.conftest import OPERATOR_TOKEN, OpenApp
from tests.relay.stories import START, Story
from tests.relay.web.readers import statements
from tests.relay.web.test_pages import HOSTILE, Outline, in_order, page

PATH, INBOX = "/deliveries", "/deliveries/inbox"


def put(context: RelayContext, count: int = 1, **changes: Any) -> Sequence[int]:
    """Letters to one target."""
    kind, target = changes.pop("kind", OutboxKind.DISPATCH), changes.pop("target", "a/l2")
    with context.store.writing() as session:
        taken = len(session.scalars(select(OutboxItem.id)).all())
        keys = [f"{kind}/{target}/{taken + number}"[:600] for number in range(count)]
        ids = enqueue_all(session, [NewItem(kind, key, key, target, {"nonce": "secret-proof"}) for key in keys], START)
        for row in ids:
            item = session.get_one(OutboxItem, row)
            for name, value in changes.items():
                setattr(item, name, value)
    return ids


def dead(context: RelayContext, count: int = 1, **changes: Any) -> Sequence[int]:
    died = {
        "state": OutboxState.DEAD,
        "settled_at": START,
        "last_error": "Not Found",
        "last_status": 404,
        "attempts": 3,
    }
    return put(context, count, **died | changes)


def arrived(context: RelayContext, name: str, **changes: Any) -> int:
    """A webhook in the inbox."""
    told = {"event": "push", "body_sha256": "f" * 64, "payload": b"{}", "received_at": START}
    delivery = Delivery(delivery_id=name, **told | {"state": DeliveryState.PROCESSED} | changes)
    with context.store.writing() as session:
        session.add(delivery)
    return delivery.id


def dispatched(context: RelayContext, delivery: str, repo: str = "a/l2", reason: str = "HTTP 404") -> int:
    dispatch = Dispatch(
        delivery_id=delivery,
        repo=repo,
        repo_key=repo,
        level="L2",
        event_type="pull_request",
        upstream_repo="pytorch/pytorch",
        pr_number=7,
        head_sha="1" * 40,
        nonce="secret-proof",
        state=DispatchState.FAILED,
        reason=reason,
        queued_at=START,
    )
    with context.store.writing() as session:
        session.add(dispatch)
    return dispatch.id


def signed_in(client: TestClient) -> TestClient:
    """The same browser, after an operator signed in."""
    (field,) = Outline(client.get("/sign-in").text).having("input", name="form_token")
    answer = client.post("/sign-in", data={"form_token": field["value"], "token": OPERATOR_TOKEN})
    assert answer.status_code == 200, answer.text
    return client


def test_the_dead_come_first_with_why_advice_and_command(client: TestClient, context: RelayContext) -> None:
    put(context, 2)
    (gone,) = dead(context)
    found = page(client, PATH)
    in_order(
        found.text, "1 dead letter needs a person; 2 wait.", "2 due", "1 dead", "tell a backend of a change", "a/l2"
    )
    in_order(found.text, "HTTP 404: Not Found", "The App sees no such repository", "tried 3 times")
    in_order(found.text, f"relay delivery replay {gone}", "Purpose", "not tried yet")
    assert found.having("a", href=f"{PATH}/{gone}")
    assert "secret-proof" not in found.text


def test_letters_are_found_by_state_purpose_and_target(client: TestClient, context: RelayContext) -> None:
    put(context, 3, kind=OutboxKind.HUD, target="https://hud.example/x")
    dead(context, 1, target="A/l2")
    found = page(client, f"{PATH}?kind=hud")
    assert "a/l2" not in found.text.lower().split("written")[1]
    assert found.having("a", href=f"{PATH}?state=due&kind=hud")
    assert found.having("option", value="hud", selected=None)  # type: ignore[arg-type]  # a bare attribute has no value
    in_order(page(client, f"{PATH}?target=a/L2").text, "0 due", "1 dead", "A/l2")
    assert "1 dead letter needs" in page(client, f"{PATH}?state=dead").text
    assert "No letter fits" in page(client, f"{PATH}?state=sent").text


@pytest.mark.parametrize(
    ("days", "of_letters", "of_webhooks"),
    [
        (30, "more than 30 days ago is removed and not counted", "After 30 days the body of a webhook is removed"),
        (0, "Letters are kept for good", "Webhooks are kept whole"),
    ],
)
def test_what_is_removed_and_when_is_said(
    settings: RelaySettings, open_app: OpenApp, days: int, of_letters: str, of_webhooks: str
) -> None:
    client = TestClient(open_app(settings.model_copy(update={"retention_days": days})))
    assert of_letters in page(client, PATH).text
    assert of_webhooks in page(client, INBOX).text
    assert "RELAY_RETENTION_DAYS" in client.get("/api/v1/outbox/7").json()["hint"]


def test_a_webhook_without_its_body_says_so(client: TestClient, context: RelayContext) -> None:
    """And tells the rest as before."""
    row = arrived(context, "d-1", payload=b"", body_removed_at=START, note="cancelled runs: 3")
    found = page(client, f"{INBOX}/{row}").text
    in_order(found, "cancelled runs: 3", "d-1", "the body was removed for its age", "f" * 64)
    assert "0 bytes" not in found
    told = client.get(f"/api/v1/inbox/{row}").json()
    assert (told["bytes"], bool(told["body_removed_at"])) == (0, True)


@pytest.mark.parametrize("query", ["?state=odd&kind=odd", "?before=x", "?before=99999999999999", "?target="])
def test_an_odd_address_is_still_a_page(client: TestClient, context: RelayContext, query: str) -> None:
    put(context)
    assert "not tried yet" in page(client, f"{PATH}{query}").text


def test_letters_are_paged_by_their_numbers(client: TestClient, context: RelayContext) -> None:
    ids = put(context, 60)
    (older,) = page(client, f"{PATH}?state=due").having("a", rel="next")
    assert older["href"] == f"{PATH}?state=due&before={ids[10]}"
    second = page(client, older["href"] or "")
    assert second.having("a", href=f"{PATH}/{ids[9]}")
    assert not second.having("a", rel="next")


def test_an_empty_outbox_says_why(client: TestClient) -> None:
    in_order(page(client, PATH).text, "Nothing left the relay in the last 90 days", "RELAY_ALLOWLIST_URL")


def test_a_letter_tells_what_it_is_about(client: TestClient, context: RelayContext) -> None:
    (gone,) = dead(context, dispatch_id=dispatched(context, "d-1"))
    found = page(client, f"{PATH}/{gone}")
    in_order(found.text, "dead", "tell a backend of a change", "a/l2", "HTTP 404: Not Found", "relay delivery replay")
    in_order(found.text, "What it tells of", "failed", "pull_request of pull request #7", "1" * 10, "HTTP 404", "d-1")
    assert found.having("a", href="/backends/a/l2")
    assert found.having("a", href=f"{INBOX}?delivery=d-1")
    assert "secret-proof" not in found.text


def test_a_signed_in_operator_sends_a_dead_letter_again(client: TestClient, context: RelayContext) -> None:
    (gone,) = dead(context)
    assert not page(client, f"{PATH}/{gone}").having("form", action=f"{PATH}/{gone}/replay")
    found = page(signed_in(client), f"{PATH}/{gone}")
    assert found.having("form", action=f"{PATH}/{gone}/replay", method="post")
    (field, *_) = found.having("input", name="form_token")
    answer = client.post(f"{PATH}/{gone}/replay", data={"form_token": field["value"]})
    assert (answer.status_code, answer.url.path) == (200, f"{PATH}/{gone}")
    in_order(Outline(answer.text).text, "due", "not tried yet")
    assert "outbox.replay" in str(
        client.get("/api/v1/actions", headers={"Authorization": f"Bearer {OPERATOR_TOKEN}"}).json()
    )


def test_a_form_of_nobody_or_of_elsewhere_sends_nothing(client: TestClient, context: RelayContext) -> None:
    (gone,) = dead(context)
    answer = client.post(f"{PATH}/{gone}/replay", data={}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/sign-in")
    signed_in(client)
    assert client.post(f"{PATH}/{gone}/replay", data={"form_token": "made up"}).status_code == 403
    assert "dead" in page(client, f"{PATH}/{gone}").text.split("Letter")[1]


def test_the_inbox_tells_what_came_of_each_webhook(client: TestClient, context: RelayContext) -> None:
    run = Story(context.store).open()
    arrived(context, "d-1", event="pull_request", run_id=run)
    arrived(context, "d-2", state=DeliveryState.IGNORED, note="a push to another branch")
    found = page(client, INBOX)
    in_order(found.text, "1 processed", "1 ignored", "d-2", "ignored", "a push to another branch", "d-1", f"run {run}")
    in_order(page(client, f"{INBOX}?delivery=d-1").text, "pull_request", f"run {run}")
    assert "d-2" not in page(client, f"{INBOX}?delivery=d-1").text
    assert "d-1" not in page(client, f"{INBOX}?state=ignored").text
    assert "never arrived" in page(client, f"{INBOX}?delivery=d-9").text


def test_the_inbox_is_paged(client: TestClient, context: RelayContext) -> None:
    ids = [arrived(context, f"d-{number}") for number in range(52)]
    (older,) = page(client, INBOX).having("a", rel="next")
    assert older["href"] == f"{INBOX}?before={ids[2]}"
    assert "d-1" in page(client, older["href"] or "").text


def test_an_empty_inbox_says_where_webhooks_go(client: TestClient) -> None:
    in_order(page(client, INBOX).text, "No webhook yet", "/github/webhook")


def test_a_webhook_tells_its_outcome_and_whom_it_was_told_to(client: TestClient, context: RelayContext) -> None:
    row = arrived(context, "d-1", state=DeliveryState.FAILED, note="the base is unknown", payload=b"x" * 20_000)
    dispatched(context, "d-1")
    text = page(client, f"{INBOX}/{row}").text
    in_order(text, "failed", "push", "the base is unknown", "A refusal is final", "20 KiB", "Told to 1 backend", "a/l2")
    other = arrived(context, "d-2")
    assert "No backend was to hear of it" in page(client, f"{INBOX}/{other}").text


@pytest.mark.parametrize("path", [f"{PATH}/7", f"{PATH}/x", f"{PATH}/99999999999999", f"{INBOX}/7", f"{INBOX}/x"])
def test_an_unknown_one_is_a_page(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert Outline(answer.text).having("a", href="/deliveries", **{"aria-current": "page"})


def test_errors_and_notes_are_never_markup(client: TestClient, context: RelayContext) -> None:
    about = dispatched(context, HOSTILE, repo=HOSTILE, reason=HOSTILE)
    (gone,) = dead(context, target=HOSTILE, last_error=HOSTILE, dispatch_id=about)
    row = arrived(context, HOSTILE, event=HOSTILE, note=HOSTILE)
    for path in (PATH, f"{PATH}/{gone}", INBOX, f"{INBOX}/{row}", f"{PATH}?target=%3Cimg%20src=x%3E"):
        found = page(client, path)
        assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
        assert not found.having("img")
        assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
        assert all("style" not in attributes for _, attributes in found.elements)


@pytest.mark.parametrize("path", [PATH, INBOX])
def test_a_longer_list_costs_no_more_queries(client: TestClient, context: RelayContext, path: str) -> None:
    counts = []
    for number in (1, 20):
        dead(context, number)
        for one in range(number):
            arrived(context, f"d-{number}-{one}")
        with statements(context.store.engine) as seen:
            page(client, path)
        counts.append(len(seen))
    assert counts[0] == counts[1]
    assert counts[0] <= 4
