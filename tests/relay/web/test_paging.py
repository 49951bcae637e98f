"""Every list of the API goes on by `next`, whole and without repeating itself, and takes no cursor of another one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from fastapi.testclient import TestClient

from relay.access.actions import Actor, record_action
from relay.access.tokens import create_token
from relay.access_views import Scope, Via
from relay.client import ApiClient
from relay.context import RelayContext
from relay.runs.misses import record_miss
from relay.store.clock import utc_now
from relay.upgrade.keeping import keep_report, read_publication
from relay.views import Page
from relay.web.paging import encoded
from tests.benchmarks.seed import seed
from tests.benchmarks.seed_rows import Size
from tests.conftest import OPERATOR_TOKEN
from tests.relay.serving import serving
from tests.relay.upgrade_story import upgrade_text
from tests.relay.web.readers import Readers

pytestmark = pytest.mark.both_setups

SMALL = Size(runs=60, tests=12, considered=15, reports=60, deliveries=20)
TEST = "{test}"

#: Every list, with the field that its lines are in, and what to ask it for.
LISTS = {
    "/api/v1/runs": ("runs", "?state=finished"),
    "/api/v1/runs/{run_id}/tests": ("tests", ""),
    "/api/v1/runs/{run_id}/decisions": ("decisions", ""),
    "/api/v1/runs/{run_id}/history": ("events", ""),
    "/api/v1/tests": ("tests", "?q=test_"),
    "/api/v1/tests/history": ("outcomes", f"?id={TEST}"),
    "/api/v1/trunk": ("commits", ""),
    "/api/v1/audits": ("audits", ""),
    "/api/v1/edges": ("edges", ""),
    "/api/v1/inbox": ("deliveries", ""),
    "/api/v1/outbox": ("letters", ""),
    "/api/v1/tokens": ("tokens", ""),
    "/api/v1/actions": ("actions", ""),
    "/api/v1/backends": ("backends", "?days=90"),
    "/api/v1/upgrades": ("upgrades", ""),
    "/api/v1/upgrades/{upgrade_id}/tests": ("tests", "?duty=must"),
}


@pytest.fixture
def readers(readers: Readers, operator_auth: dict[str, str]) -> Readers:
    """A record in which every list is longer than a page."""
    readers.client.headers.update(operator_auth)
    _fill(readers.context)
    return readers


def _fill(context: RelayContext) -> None:
    seed(context.store, SMALL, utc_now())
    with context.store.writing() as session:
        for number in range(5):
            report = read_publication(upgrade_text(6, head=f"v3.{number}.0"))
            keep_report(session, report, "release duty", context.now())
            until = context.now() + timedelta(days=1)
            create_token(session, f"job {number}", Scope.READ, context.now(), expires_at=until, created_by="a test")
            record_miss(
                session,
                device=context.settings.device,
                changed_paths=[f"torch/{number}.py"],
                base_test="test/test_a.py::TestA::test_a",
                evidence="it broke",
                run_id=1,
                now=context.now(),
            )
            record_action(session, Actor("a test", None, Via.API, "-"), "token.create", context.now())


def test_every_list_goes_on_by_next(readers: Readers) -> None:
    """A page at a time shows what one large page shows, in the same order."""
    run_id = 40
    test = readers.client.get(f"/api/v1/runs/{run_id}/tests").json()["tests"][0]["id"]
    for path, (lines, question) in LISTS.items():
        address = path.replace("{run_id}", str(run_id)).replace("{upgrade_id}", "1") + question.replace(TEST, test)
        whole = readers.client.get(address).json()
        assert len(whole[lines]) > 2, address
        size = len(whole[lines]) // 3 + 1
        assert _followed(readers.client, address, lines, size)[: len(whole[lines])] == whole[lines], address


def _followed(client: TestClient, address: str, lines: str, size: int) -> list[Any]:
    found: list[Any] = []
    follow: str | None = f"{address}{'&' if '?' in address else '?'}limit={size}"
    while follow is not None:
        answer = client.get(follow)
        assert answer.status_code == 200, (follow, answer.text)
        page = answer.json()
        assert 0 < len(page[lines]) <= size
        assert answer.links.get("next", {}).get("url") == page["next"]
        found += page[lines]
        follow = page["next"]
    return found


def test_every_list_is_known_here(client: TestClient) -> None:
    """A route that answers a page takes a cursor, and what takes a cursor is followed above."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    taking = {
        path
        for path, methods in paths.items()
        if any(parameter["name"] == "cursor" for parameter in methods.get("get", {}).get("parameters", ()))
    }
    pages = {model.__name__ for model in _pages(Page)}
    answering = {path for path, methods in paths.items() if _answered(methods.get("get", {})) in pages}
    assert answering <= taking
    assert set(LISTS) >= {path for path in taking if not path.endswith("/log")}


def _pages(model: type[Page]) -> Iterator[type[Page]]:
    for one in model.__subclasses__():
        yield one
        yield from _pages(one)


def _answered(operation: dict[str, Any]) -> str:
    content = operation.get("responses", {}).get("200", {}).get("content", {}).get("application/json", {})
    return str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2]


def test_a_list_does_not_take_what_is_no_cursor_of_it(readers: Readers) -> None:
    """Neither noise, nor places of lists that go by something else, nor numbers that no place has."""
    odd = ["?", "e30", "bnVsbA", "WzFd", encoded(["a\0b"]), encoded([2**70]), encoded([-1]), "\u00e9", "W" * 400]
    odd += [encoded([1, 2, 3]), encoded(["x", 1]), encoded([]), encoded([True])]
    for path, (_, question) in LISTS.items():
        for cursor in odd:
            query = {**dict(parse_qsl(question.removeprefix("?"))), "cursor": cursor}
            answer = readers.client.get(path.replace("{run_id}", "40"), params=query)
            assert answer.status_code in {200, 404, 422}, (path, cursor, answer.text)
            if answer.status_code == 422:
                assert answer.json()["code"] in {"invalid_cursor", "invalid_request"}
    for cursor in odd[4:9]:
        assert readers.client.get("/api/v1/runs", params={"cursor": cursor}).status_code == 422


def test_the_places_of_before_go_on_working(readers: Readers) -> None:
    """A reader of an older version finds `next_before`, and what it leads to."""
    first = readers.client.get("/api/v1/runs?limit=3").json()
    by_id = readers.client.get("/api/v1/runs", params={"limit": 3, "before": first["next_before"]}).json()
    assert by_id == readers.client.get(first["next"]).json()
    tests = readers.client.get("/api/v1/runs/40/tests?limit=5").json()
    by_offset = readers.client.get("/api/v1/runs/40/tests?limit=5&offset=5").json()
    assert by_offset == readers.client.get(tests["next"]).json()


def test_next_keeps_the_question(readers: Readers) -> None:
    """Filters stay, the old place goes."""
    found = readers.client.get("/api/v1/runs?state=finished&limit=2&before=50").json()["next"]
    assert "state=finished" in found
    assert "limit=2" in found
    assert "before" not in found


def test_the_client_of_the_command_line_follows_pages(readers: Readers) -> None:
    """Through a socket: what it reads page by page is what one page holds."""
    with serving(readers.app) as url, ApiClient(url, operator_token=OPERATOR_TOKEN) as client:
        page = client.tests(40, limit=5)
        found = list(page.tests)
        while (cursor := client.cursor_of(page)) is not None:
            page = client.tests(40, limit=5, cursor=cursor)
            found += page.tests
        assert tuple(found) == client.tests(40, limit=500).tests
        names = client.tokens(every=False, limit=2)
        rest = client.tokens(every=False, limit=10, cursor=client.cursor_of(names))
        assert len({token.id for token in (*names.tokens, *rest.tokens)}) == 5
