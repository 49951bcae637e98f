"""Steps of tests that sign a browser in: the page, its form, and what the form needs."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient
from httpx2 import Response

from tests.conftest import OPERATOR_TOKEN

_FORM_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


def form_token(html: str) -> str:
    """What the last form of a page carries."""
    found = _FORM_TOKEN.findall(html)
    assert found, "the page has no form"
    return str(found[-1])


def send_sign_in(client: TestClient, token: str, wanted: str = "/") -> Response:
    """The page, then its form with this token."""
    page = client.get("/sign-in", params={"next": wanted})
    fields = {"form_token": form_token(page.text), "next": wanted, "token": token}
    return client.post("/sign-in", data=fields, follow_redirects=False)


def sign_in(client: TestClient, token: str = OPERATOR_TOKEN) -> None:
    """Sign this client in. Fails when that does not work."""
    assert send_sign_in(client, token).status_code == 303


def send_form(client: TestClient, page: str, path: str, **fields: str) -> Response:
    """A form of `page`, sent to `path` as a browser would that is signed in."""
    html = client.get(page).text
    return client.post(path, data={"form_token": form_token(html), **fields}, follow_redirects=False)
