"""The addresses that readers of results know, through the real application."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient

from relay.allowlist.grammar import parse_allowlist
from relay.context import RelayContext
from relay.github.types import GitHubError
from relay.hud.queries import QUERIES
from relay.hud.recording import record_result
from relay.parts import AllowlistUnavailableError, CrcrParts, LoadedAllowlist
from relay.settings import RelaySettings
from tests.conformance.allowlist_stand_in import FIXTURE, AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conftest import OpenApp
from tests.relay.hud.reports import envelope

pytestmark = pytest.mark.both_setups

_START = datetime(2026, 11, 2, 12, tzinfo=UTC)
_SHA = "a" * 40


class _Clock:
    def __init__(self) -> None:
        self.at = _START

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at


class _Keeping(AllowlistStandIn):
    """Reads once, then keeps what it read for 900 s."""

    kept: LoadedAllowlist | None = None

    def current(self) -> LoadedAllowlist:
        if self.kept is None or self.now() - self.kept.read_at > timedelta(seconds=900):
            self.kept = super().current()
        return LoadedAllowlist(self.kept.allowlist, self.kept.read_at, self.problem)


class _NoVerifier:
    def verify(self, authorization: str | None) -> Any:
        raise AssertionError("nothing here asks for a token")

    def close(self) -> None:
        """There is nothing to close."""


class _Readers:
    """An application, and what is outside of it."""

    def __init__(self, settings: RelaySettings, open_app: OpenApp) -> None:
        self.clock = _Clock()
        self.github = GitHubStandIn(known_titles={"7": ("Fix it", "ann"), _SHA: ("Land it", "bob")})
        self.allowlist = _Keeping(self.clock)
        app = open_app(settings, crcr=CrcrParts(self.allowlist, _NoVerifier(), self.github), now=self.clock)
        context = app.state.relay
        assert isinstance(context, RelayContext)
        self.context = context
        self.client = TestClient(app, raise_server_exceptions=False)

    def get(self, path: str, **parameters: str) -> httpx.Response:
        return self.client.get(path, params=parameters)


@pytest.fixture
def readers(settings: RelaySettings, open_app: OpenApp) -> _Readers:
    return _Readers(settings.model_copy(update={"upstream_repo": "pytorch/pytorch"}), open_app)


def _parameters(query: str) -> dict[str, Any]:
    given = {"repo": "a/l2", "days": "7", "event_type": "pull_request", "count": 5, "pr": 7, "prNums": [7]}
    return {name: value for name, value in given.items() if name in QUERIES[query].parameters}


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_answers_a_list_of_objects(readers: _Readers, query: str) -> None:
    with readers.context.store.writing() as session:
        record_result(session, envelope("completed", conclusion="success", level="L4"), readers.clock())
    answer = readers.get(f"/api/clickhouse/{query}", parameters=json.dumps(_parameters(query)))
    assert answer.status_code == 200, answer.text
    assert isinstance(answer.json(), list)


def test_a_declared_cadence_reaches_the_summary(settings: RelaySettings, open_app: OpenApp) -> None:
    app = open_app(settings.model_copy(update={"crcr_cadences": "A/L2=2h"}), now=lambda: _START)
    context = app.state.relay
    started = (_START - timedelta(hours=3)).isoformat()
    with context.store.writing() as session:
        record_result(session, envelope("completed", event="nightly", started_at=started), _START)
    answer = TestClient(app).get("/api/clickhouse/crcr_nightly_summary", params={"parameters": '{"days": 7}'})
    assert [(row["stale"], row["expected_every_s"]) for row in answer.json()] == [(True, 7_200)]


@pytest.mark.parametrize(
    ("path", "parameters", "status"),
    [
        ("nothing", "{}", 404),
        ("crcr_summary", "{}", 400),
        ("crcr_summary", "no json", 400),
        ("crcr_summary", '{"days": -1}', 400),
        ("crcr_summary", "x" * 30_000, 422),
    ],
)
def test_a_wrong_question_is_told_apart_from_a_fault(
    readers: _Readers, path: str, parameters: str, status: int
) -> None:
    answer = readers.get(f"/api/clickhouse/{path}", parameters=parameters)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])


def test_the_allowlist_is_told_by_level(readers: _Readers) -> None:
    answer = readers.get("/api/crcr/allowlist")
    both = ["nightly", "pull_request"]
    assert answer.json() == {
        "L1": [{"repo": "a/l1", "oncalls": [], "events": both}],
        "L2": [{"repo": "a/l2", "oncalls": [], "events": both}],
        "L3": [{"repo": "a/l3", "oncalls": ["x"], "events": both, "device": "npu"}],
        "L4": [{"repo": "a/l4", "oncalls": ["y", "z"], "events": both}],
    }


def test_the_allowlist_tells_how_old_it_is(readers: _Readers) -> None:
    states = [readers.get("/api/crcr/allowlist").headers["X-Cache"] for _ in range(2)]
    readers.clock.at += timedelta(seconds=901)
    states += [readers.get("/api/crcr/allowlist").headers["X-Cache"] for _ in range(2)]
    readers.allowlist.problem = "line 3 is wrong"
    states.append(readers.get("/api/crcr/allowlist").headers["X-Cache"])
    assert states == ["MISS", "HIT", "MISS", "HIT", "STALE"]


@pytest.mark.parametrize("path", ["allowlist", "level-status"])
def test_no_allowlist_is_a_fault_behind_us(readers: _Readers, path: str) -> None:
    readers.allowlist.text = None
    answer = readers.get(f"/api/crcr/{path}")
    assert (answer.status_code, list(answer.json())) == (502, ["error"])


@pytest.mark.parametrize("path", ["allowlist", "level-status"])
def test_a_relay_without_the_protocol_says_so(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/crcr/{path}")
    assert answer.status_code == 502
    assert "RELAY_ALLOWLIST_URL" in answer.json()["error"]


def test_levels_are_told_for_those_that_may_move(readers: _Readers) -> None:
    answer = readers.get("/api/crcr/level-status").json()
    assert [(one["repo"], one["level"], one["change"]) for one in answer["repos"]] == [
        ("a/l3", "L3", None),
        ("a/l2", "L2", None),
    ]


def test_titles_are_told_and_asked_for_once(readers: _Readers) -> None:
    for _ in range(2):
        pulls = readers.get("/api/crcr/pr-info", repo="pytorch/pytorch", prs="7,8,x")
        commits = readers.get("/api/crcr/commit-info", repo="pytorch/pytorch", shas=_SHA)
    assert pulls.json() == [
        {"prNumber": 7, "title": "Fix it", "author": "ann"},
        {"prNumber": 8, "title": "", "author": ""},
    ]
    assert commits.json() == [{"sha": _SHA, "title": "Land it", "author": "bob"}]
    assert pulls.headers["Cache-Control"] == "s-maxage=300, stale-while-revalidate=600"
    assert commits.headers["Cache-Control"] == "s-maxage=86400, stale-while-revalidate=3600"
    assert readers.github.calls == [("titles", "pytorch/pytorch")] * 2


@pytest.mark.parametrize(
    ("path", "parameters", "status"),
    [
        ("pr-info", {}, 400),
        ("pr-info", {"repo": "pytorch/pytorch"}, 400),
        ("commit-info", {"shas": _SHA}, 400),
        ("pr-info", {"repo": "a/other", "prs": "7"}, 403),
        ("commit-info", {"repo": "a/other", "shas": _SHA}, 403),
    ],
)
def test_titles_are_only_of_the_upstream_repository(
    readers: _Readers, path: str, parameters: dict[str, str], status: int
) -> None:
    answer = readers.get(f"/api/crcr/{path}", **parameters)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert readers.github.calls == []


def test_a_github_that_fails_is_answered_and_asked_again(readers: _Readers) -> None:
    readers.github.fail("titles", GitHubError("secret detail", status=502))
    answers = [readers.get("/api/crcr/pr-info", repo="pytorch/pytorch", prs="7") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [500, 200]
    assert answers[0].json() == {"error": "Failed to fetch PR info"}


def test_the_stand_in_reads_what_the_rows_assume() -> None:
    """The fixture's list is one that the grammar takes."""
    assert len(parse_allowlist(FIXTURE).backends) == 4
    with pytest.raises(AllowlistUnavailableError):
        AllowlistStandIn(_Clock(), text=None).current()
