"""A token is shown once, a cookie stands for it: out of reach of scripts and of other sites, and only for forms of
ours."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from relay.access import sign_in_limit
from relay.access.sign_in_limit import PER_ADDRESS
from relay.access.tokens import create_token, revoke_token
from relay.access_views import Scope
from relay.context import RelayContext
from relay.settings import RelaySettings
from relay.web.pages.sign_in import local_path
from tests.conftest import OPERATOR_TOKEN, WORKER_TOKEN, OpenApp
from tests.relay.web.signing_in import form_token, send_form, send_sign_in, sign_in

HOSTILE = '"><script>alert(1)</script>{{ 7*7 }}'


def actions(client: TestClient, operator_auth: dict[str, str]) -> list[tuple[str, str, str]]:
    told = client.get("/api/v1/actions", headers=operator_auth).json()["actions"]
    return [(action["actor"], action["action"], action["via"]) for action in told]


def test_signing_in_leads_to_where_the_reader_wanted_to_be(client: TestClient) -> None:
    answer = send_sign_in(client, OPERATOR_TOKEN, "/runs/7?verdict=flaky")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/7?verdict=flaky")
    page = client.get("/").text
    assert "Sign out" in page
    assert "Audit log" in page
    assert 'href="/sign-in' not in page


def test_the_cookie_is_out_of_reach(client: TestClient) -> None:
    """Of scripts, of other sites; it has an end, and is not the token."""
    cookie = next(
        header
        for header in send_sign_in(client, OPERATOR_TOKEN).headers.get_list("set-cookie")
        if "Max-Age=43200" in header
    )
    for part in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert part in cookie
    assert "Secure" not in cookie
    assert OPERATOR_TOKEN not in cookie


def test_with_https_the_cookie_is_bound_to_host_and_https(settings: RelaySettings, open_app: OpenApp) -> None:
    app = open_app(settings.model_copy(update={"public_url": "https://relay.example"}))
    client = TestClient(app, base_url="https://relay.example")
    cookies = send_sign_in(client, OPERATOR_TOKEN).headers.get_list("set-cookie")
    assert all(cookie.startswith("__Host-relay") and "Secure" in cookie for cookie in cookies)
    assert "Sign out" in client.get("/").text


@pytest.mark.parametrize(
    ("token", "status", "sentence"),
    [
        ("wrong", 401, "not valid here"),
        ("relay_" + "x" * 43, 401, "not valid here"),
        ("", 401, "Paste a token first"),
        (" \t", 401, "Paste a token first"),
        (HOSTILE, 401, "not valid here"),
        (WORKER_TOKEN, 403, "It opens no page"),
    ],
)
def test_another_token_is_told_why_not_and_asked_again(
    client: TestClient, token: str, status: int, sentence: str
) -> None:
    """It is not shown again, and nobody is signed in."""
    answer = send_sign_in(client, token, "/runs/7")
    assert answer.status_code == status
    assert sentence in answer.text
    assert 'value="/runs/7"' in answer.text
    assert HOSTILE not in answer.text
    assert "Sign out" not in client.get("/").text


def test_spaces_around_a_pasted_token_do_not_matter(client: TestClient) -> None:
    assert send_sign_in(client, f" {OPERATOR_TOKEN}\n").status_code == 303


def test_a_form_of_elsewhere_signs_nobody_in(client: TestClient) -> None:
    """Another site may not sign a browser in with a token of its own choice."""
    without_page = client.post("/sign-in", data={"token": OPERATOR_TOKEN}, follow_redirects=False)
    assert without_page.status_code == 403
    assert "too old" in without_page.text
    page = client.get("/sign-in").text
    client.cookies.clear()
    answer = client.post("/sign-in", data={"token": OPERATOR_TOKEN, "form_token": form_token(page)})
    assert answer.status_code == 403


def test_a_browser_that_says_the_form_came_from_elsewhere_is_believed(client: TestClient) -> None:
    fields = {"form_token": form_token(client.get("/sign-in").text), "token": OPERATOR_TOKEN}
    for site in ("cross-site", "same-site"):
        assert client.post("/sign-in", data=fields, headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize("body", [b"\xff\xfe", b"&" * 300, b"token=%ff", b"[]", b""])
def test_what_is_no_form_is_refused_like_an_old_one(client: TestClient, body: bytes) -> None:
    assert client.post("/sign-in", content=body).status_code == 403


def test_a_form_without_end_is_413(client: TestClient) -> None:
    assert client.post("/sign-in", content=b"token=" + b"x" * 70_000).status_code == 413


def test_signing_out_ends_it(client: TestClient, operator_auth: dict[str, str]) -> None:
    """The cookie is worth nothing afterwards, also if somebody kept it."""
    sign_in(client)
    kept = dict(client.cookies)
    answer = send_form(client, "/sign-in", "/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    client.cookies.update(kept)
    assert "Sign out" not in client.get("/").text
    assert actions(client, operator_auth) == [
        ("operator (settings)", "page.sign_out", "page"),
        ("operator (settings)", "page.sign_in", "page"),
    ]


def test_nobody_else_signs_a_reader_out(client: TestClient) -> None:
    sign_in(client)
    assert client.post("/sign-out", data={"form_token": "0" * 64}).status_code == 403
    assert "Sign out" in client.get("/").text


def test_who_is_signed_in_is_told_as_whom(client: TestClient, context: RelayContext) -> None:
    with context.store.writing() as session:
        new = create_token(session, "reader", Scope.READ, context.now(), expires_at=None, created_by="me")
    sign_in(client, new.token)
    page = client.get("/sign-in?next=/audits").text
    assert "Signed in as reader, who may read." in page
    assert 'href="/audits"' in page
    assert "Audit log" not in page
    with context.store.writing() as session:
        revoke_token(session, new.about.id, context.now())
    assert "Signed in as" not in client.get("/sign-in").text


@pytest.mark.parametrize(
    "wanted",
    [
        *("//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "\\/evil.example"),
        *("/\t/evil.example", "/a\r\nSet-Cookie: x=y", "javascript:alert(1)", "/" + "x" * 3_000),
    ],
)
def test_only_paths_of_ours_are_gone_to(wanted: str) -> None:
    assert local_path(wanted) == "/"


def test_a_hostile_address_stays_text(client: TestClient) -> None:
    page = client.get("/sign-in", params={"next": f"/runs/{HOSTILE}"}).text
    assert "<script>alert" not in page
    assert 'name="next" value="/"' in page


def test_who_tries_too_often_waits_whatever_the_token_is(
    client: TestClient, context: RelayContext, operator_auth: dict[str, str]
) -> None:
    """The right one is answered like a wrong one, and nothing is written for it. The API is not the page's affair."""
    for _ in range(PER_ADDRESS):
        assert send_sign_in(client, "wrong").status_code == 401
    refused = [send_sign_in(client, token, "/audits") for token in ("wrong", OPERATOR_TOKEN, WORKER_TOKEN, "")]
    assert [answer.status_code for answer in refused] == [429] * 4
    assert len({re.sub(r"[0-9a-f]{64}|in \d+ s", "", answer.text) for answer in refused}) == 1
    for answer in refused:
        assert 1 <= int(answer.headers["Retry-After"]) <= 3
        assert "Too many tries to sign in. Try again in" in answer.text
        assert 'value="/audits"' in answer.text
    assert "Sign out" not in client.get("/").text
    assert client.get("/api/v1/actions", headers=operator_auth).json()["actions"] == []


def test_the_wait_that_is_told_is_enough(settings: RelaySettings, open_app: OpenApp) -> None:
    now = [datetime(2026, 11, 2, 9, 30, tzinfo=UTC)]
    client = TestClient(open_app(settings, now=lambda: now[0]))
    for _ in range(PER_ADDRESS):
        send_sign_in(client, "wrong")
    now[0] += timedelta(seconds=int(send_sign_in(client, OPERATOR_TOKEN).headers["Retry-After"]))
    assert send_sign_in(client, OPERATOR_TOKEN).status_code == 303


def test_other_addresses_may_try_until_all_together_are_too_many(
    settings: RelaySettings, open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what a trusted proxy says; and replicas count together, for the count is in the record."""
    monkeypatch.setattr(sign_in_limit, "PER_ADDRESS", 2)
    monkeypatch.setattr(sign_in_limit, "OVERALL", 7)
    now = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
    apps = [open_app(settings.model_copy(update={"trusted_proxies": "127.0.0.1"}), now=lambda: now) for _ in (1, 2)]
    clients = [TestClient(app, client=("127.0.0.1", 5)) for app in apps]

    def status(number: int, address: str) -> int:
        client = clients[number % 2]
        client.headers["X-Forwarded-For"] = address
        return send_sign_in(client, "wrong").status_code

    assert [status(n, "192.0.2.1") for n in range(3)] == [401, 401, 429]
    assert [status(n, f"192.0.2.{2 + n // 2}") for n in range(5)] == [401] * 5
    assert status(0, "198.51.100.1") == 429


@pytest.fixture
def closed(settings: RelaySettings, open_app: OpenApp) -> TestClient:
    return TestClient(open_app(settings.model_copy(update={"read_access": "token"})))


def test_the_sign_in_is_open_where_reading_takes_a_token(closed: TestClient) -> None:
    """From any page to it, and back to that page."""
    page = closed.get("/audits")
    assert page.url.path == "/sign-in"
    assert "Reading here takes a token" in page.text
    fields = {"form_token": form_token(page.text), "next": "/audits", "token": OPERATOR_TOKEN}
    landed = closed.post("/sign-in", data=fields)
    assert (landed.url.path, landed.status_code) == ("/audits", 200)


def test_the_link_to_the_sign_in_leads_back_to_its_page(client: TestClient) -> None:
    """With its filters; from what cannot be come back to, to the list of runs."""
    assert 'href="/sign-in?next=/%3Fstate%3Drunning%26pr%3D7"' in client.get("/?state=running&pr=7").text
    assert 'href="/sign-in"' in client.get("/").text
    assert 'href="/sign-in"' in client.post("/runs/7").text
    hostile = client.get("/", params={"q": HOSTILE}).text
    assert "<script>alert" not in hostile
