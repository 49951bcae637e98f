"""The relay's HTTP API as seen by a program: typed answers, and failures that say what to do next.

Owns requests, status codes and parsing. It prints nothing, reads no environment, and knows nothing of the database.
Server-sent events are read here one connection at a time; reconnecting is `relay.following`'s business.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from relay.access_views import NewToken, TokenPage, TokenView
from relay.audit_views import AuditPage, AuditView
from relay.edge_views import EdgePage, RemovedEdges
from relay.found_views import FoundTestPage
from relay.log_views import LogPage
from relay.now_views import NowView, WorkersView
from relay.outbox.views import LetterDetail, LetterPage, LetterState, Replayed
from relay.refusals import (
    REQUEST_ID,
    VERSION_HINT,
    BadReply,
    Busy,
    Conflict,
    NotFound,
    Refused,
    Unauthorized,
    Unreachable,
    refusal_of,
)
from relay.views import (
    Conclusion,
    DecisionPage,
    Health,
    Page,
    RunDetail,
    RunEvent,
    RunHistory,
    RunPage,
    RunState,
    RunSummary,
    SubmissionView,
    TestHistory,
    TestPage,
    Verdict,
)

__all__ = [
    "FINAL_STATES",
    "ApiClient",
    "BadReply",
    "Busy",
    "Conflict",
    "NotFound",
    "Refused",
    "Unauthorized",
    "Unreachable",
    "is_loopback",
]

FINAL_STATES = frozenset({RunState.FINISHED, RunState.CANCELLED, RunState.FAILED})

_Body = TypeVar("_Body", bound=BaseModel)
_Query = Mapping[str, str | int | bool | None]


class ApiClient:
    """Requests to one relay. `transport` replaces the network, `timeout_s` bounds each wait for bytes, `trace` is told
    of each request and its answer, `operator_token` is shown with all of them: reading may need one as well."""

    def __init__(
        self,
        base_url: str,
        *,
        operator_token: str = "",
        transport: httpx.BaseTransport | None = None,
        timeout_s: float = 10.0,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._token = operator_token
        self._trace = trace
        shown = {"Authorization": f"Bearer {operator_token}"} if operator_token else {}
        try:
            # A proxy from the environment must not come between two programs of one machine.
            self._http = httpx.Client(
                base_url=self.base_url,
                headers=shown,
                transport=transport,
                timeout=timeout_s,
                verify=authorities(),
                trust_env=not is_loopback(base_url),
                event_hooks={"response": [self._tell]},
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise Unreachable(f"{base_url} is not a web address: {error}", _URL_HINT) from error

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def health(self) -> Health:
        """What the service says about its own parts."""
        return self._get(Health, "/api/v1/health", {})

    def version(self) -> Mapping[str, object]:
        """The version the service runs."""
        return self._object("GET", "/api/v1/version")

    def workers(self) -> WorkersView:
        """The workers of the last day. Raises `NotFound` when the service is too old to tell."""
        return self._get(WorkersView, "/api/v1/workers", {})

    def now(self) -> NowView:
        """What runs and what waits. Raises `NotFound` when the service is too old to tell."""
        return self._get(NowView, "/api/v1/now", {})

    def runs(
        self,
        *,
        state: RunState | None = None,
        conclusion: Conclusion | None = None,
        repo: str | None = None,
        branch: str | None = None,
        pr: int | None = None,
        device: str | None = None,
        limit: int = 20,
        before: int | None = None,
    ) -> RunPage:
        """Newest first."""
        query: _Query = {"state": state, "conclusion": conclusion, "repo": repo, "branch": branch, "pr": pr}
        return self._get(RunPage, "/api/v1/runs", {**query, "device": device, "limit": limit, "before": before})

    def run(self, run_id: int) -> RunDetail:
        """Raises `NotFound` for a run the service does not know."""
        return self._get(RunDetail, f"/api/v1/runs/{run_id}", {})

    def tests(
        self, run_id: int, *, verdict: Verdict | None = None, limit: int = 100, cursor: str | None = None
    ) -> TestPage:
        """Planned tests of a run, optionally those with one verdict."""
        query: _Query = {"verdict": verdict, "limit": limit, "cursor": cursor}
        return self._get(TestPage, f"/api/v1/runs/{run_id}/tests", query)

    def decisions(
        self, run_id: int, *, kept: bool | None = None, q: str | None = None, limit: int = 100
    ) -> DecisionPage:
        """Considered tests with their reason chains; `q` is a part of the test's name."""
        query: _Query = {"kept": kept, "q": q, "limit": limit}
        return self._get(DecisionPage, f"/api/v1/runs/{run_id}/decisions", query)

    def history(self, run_id: int, *, after: int = 0, limit: int = 500) -> RunHistory:
        """The run's events on record after event `after`, oldest first."""
        return self._get(RunHistory, f"/api/v1/runs/{run_id}/history", {"after": after, "limit": limit})

    def log(
        self,
        run_id: int,
        *,
        shard: int | None = None,
        attempt: int | None = None,
        after: str = "",
        limit: int = 500,
    ) -> LogPage:
        """What the run's shards printed after a place, oldest line first; from the beginning without one."""
        query: _Query = {"shard": shard, "attempt": attempt, "after": after or None, "limit": limit}
        return self._get(LogPage, f"/api/v1/runs/{run_id}/log", query)

    def find_tests(self, part: str, *, device: str = "", limit: int = 100) -> FoundTestPage:
        """Tests of the newest finished runs with `part` in their ids, by id."""
        return self._get(FoundTestPage, "/api/v1/tests", {"q": part, "device": device, "limit": limit})

    def test_history(self, test: str, *, device: str = "", limit: int = 20) -> TestHistory:
        """What the newest runs found out about a collected test. Raises `NotFound` for one that none planned."""
        return self._get(TestHistory, "/api/v1/tests/history", {"id": test, "device": device, "limit": limit})

    def junit(self, run_id: int, *, silence_s: float = 60.0) -> Iterator[bytes]:
        """A finished run as JUnit XML, in pieces as they come. Raises `Conflict` while it is not finished."""
        timeout = httpx.Timeout(10.0, read=silence_s)
        with self._reaching(), self._http.stream("GET", f"/api/v1/runs/{run_id}/junit.xml", timeout=timeout) as reply:
            if not reply.is_success:
                reply.read()
                raise refusal_of(reply)
            if "xml" not in reply.headers.get("content-type", ""):
                raise BadReply(f"{self.base_url} does not write JUnit reports", VERSION_HINT)
            yield from reply.iter_bytes()

    def rerun(self, run_id: int, *, failed: bool, full: bool = False, tests: Sequence[str] = ()) -> RunSummary:
        """Start the run again: its failed tests only, these `tests` only, or every test. Returns the new run. Needs the
        operator token."""
        wanted: dict[str, object] = {"failed": failed}
        # An older service knows neither.
        wanted |= ({"full": True} if full else {}) | ({"tests": list(tests)} if tests else {})
        return self._parse(RunSummary, self._send("POST", f"/api/v1/runs/{run_id}/rerun", body=wanted))

    def audits(self, *, limit: int = 20) -> AuditPage:
        """Newest first."""
        return self._get(AuditPage, "/api/v1/audits", {"limit": limit})

    def audit(self, audit_id: int) -> AuditView:
        """Raises `NotFound` for an audit the service does not know."""
        return self._get(AuditView, f"/api/v1/audits/{audit_id}", {})

    def edges(
        self, *, part: str = "", run: int | None = None, device: str = "", limit: int = 100, cursor: str | None = None
    ) -> EdgePage:
        """What selections missed and is run since, the newest first; of that run, with `part` in a name."""
        query: _Query = {"q": part, "run": run, "device": device, "limit": limit, "cursor": cursor}
        return self._get(EdgePage, "/api/v1/edges", query)

    def remove_edges(self, ids: Sequence[int]) -> RemovedEdges:
        """Forget edges. Needs the operator token."""
        return self._parse(RemovedEdges, self._send("POST", "/api/v1/edges/remove", body={"ids": list(ids)}))

    def start_audit(self, device: str | None = None) -> AuditView:
        """Run every test on the newest pushed head, on the usual device unless another is named. Raises `Conflict` when
        there is nothing new. Needs the operator token."""
        on = {"device": device} if device else None
        return self._parse(AuditView, self._send("POST", "/api/v1/audits", params=on, body={}))

    def submit(self, dispatch: Mapping[str, Any]) -> SubmissionView:
        """Hand over the dispatch of another relay, as often as one likes. Needs the operator token."""
        return self._parse(SubmissionView, self._send("POST", "/api/v1/dispatches", body=dispatch))

    def ask(
        self,
        model: type[_Body],
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        body: BaseModel | None = None,
        timeout_s: float | None = None,
    ) -> _Body:
        """A request of a room that has a client of its own over this one: its bodies are not known here. `content` is a
        body as it is, `timeout_s` bounds the wait where the service takes its time."""
        timeout = httpx.USE_CLIENT_DEFAULT if timeout_s is None else timeout_s
        told = content if body is None else body.model_dump_json().encode()
        headers = {} if told is None else {"Content-Type": "application/json"}
        with self._reaching():
            reply = self._http.request(method, path, content=told, headers=headers, timeout=timeout)
        if not reply.is_success:
            raise refusal_of(reply)
        return self._parse(model, reply.content)

    def letters(
        self, *, state: LetterState | None = None, kind: str | None = None, target: str | None = None, limit: int = 50
    ) -> LetterPage:
        """What left the relay or is to leave it, the newest first."""
        query: _Query = {"state": state, "kind": kind, "target": target, "limit": limit}
        return self._get(LetterPage, "/api/v1/outbox", query)

    def letter(self, letter_id: int) -> LetterDetail:
        """Raises `NotFound` for a letter the service does not know."""
        return self._get(LetterDetail, f"/api/v1/outbox/{letter_id}", {})

    def replay(self, ids: Sequence[int]) -> Replayed:
        """Send dead letters again. Needs the operator token."""
        return self._parse(Replayed, self._send("POST", "/api/v1/outbox/replay", body={"ids": list(ids)}))

    def tokens(self, *, every: bool, limit: int = 100, cursor: str | None = None) -> TokenPage:
        """Access tokens without their values, the newest first. Needs a token of scope admin."""
        return self._get(TokenPage, "/api/v1/tokens", {"every": every, "limit": limit, "cursor": cursor})

    def create_token(self, name: str, scope: str, expires_at: datetime | None) -> NewToken:
        """Make an access token; the answer is the only one with its value. Needs a token of scope admin."""
        wanted = {"name": name, "scope": scope, "expires_at": None if expires_at is None else expires_at.isoformat()}
        return self._parse(NewToken, self._send("POST", "/api/v1/tokens", body=wanted))

    def revoke_token(self, token_id: int) -> TokenView:
        """End an access token at once. Raises `NotFound`. Needs a token of scope admin."""
        return self._parse(TokenView, self._send("DELETE", f"/api/v1/tokens/{token_id}"))

    def cancel(self, run_id: int) -> RunSummary:
        """Stop a run. Needs the operator token."""
        return self._parse(RunSummary, self._send("POST", f"/api/v1/runs/{run_id}/cancel", body={}))

    def events(self, run_id: int, *, after: int = 0, silence_s: float = 45.0) -> Iterator[RunEvent]:
        """One connection to the run's events after event `after`; ends when the service ends it.

        Raises `Unreachable` when the connection breaks or stays silent (no event, no ping) for `silence_s` seconds.
        """
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        timeout = httpx.Timeout(10.0, read=silence_s)
        url = f"/api/v1/runs/{run_id}/events"
        with self._reaching(), self._http.stream("GET", url, headers=headers, timeout=timeout) as reply:
            if not reply.is_success:
                reply.read()
                raise refusal_of(reply)
            if not reply.headers.get("content-type", "").startswith("text/event-stream"):
                raise BadReply(f"{self.base_url} does not stream events", VERSION_HINT)
            for data in _event_data(reply.iter_lines()):
                yield _validated(RunEvent, data, self.base_url)

    def cursor_of(self, page: Page) -> str | None:
        """Where the list of a page goes on, for the next request of the same kind; None at its end."""
        query = parse_qs(urlsplit(page.next or "").query)
        return next(iter(query.get("cursor", ())), None)

    def _get(self, model: type[_Body], path: str, query: _Query) -> _Body:
        params = {key: value for key, value in query.items() if value is not None}
        return self._parse(model, self._send("GET", path, params=params))

    def _object(self, method: str, path: str) -> Mapping[str, object]:
        body = self._send(method, path)
        try:
            parsed = json.loads(body)
        except ValueError as error:
            raise BadReply(f"{self.base_url} answered something other than JSON", VERSION_HINT) from error
        if not isinstance(parsed, dict):
            raise BadReply(f"{self.base_url} answered JSON of an unexpected shape", VERSION_HINT)
        return parsed

    def _parse(self, model: type[_Body], body: bytes) -> _Body:
        return _validated(model, body, self.base_url)

    def _send(self, method: str, path: str, *, params: _Query | None = None, body: object = None) -> bytes:
        with self._reaching():
            reply = self._http.request(method, path, params=params, json=body)
        if not reply.is_success:
            raise refusal_of(reply)
        return reply.content

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (httpx.TransportError, httpx.InvalidURL) as error:
            cause = str(error) or type(error).__name__
            if self._trace is not None:
                self._trace(f"{self.base_url}: no answer: {cause}")
            raise Unreachable(f"the relay at {self.base_url} does not answer: {cause}", _URL_HINT) from error

    def _tell(self, reply: httpx.Response) -> None:
        if self._trace is not None:
            asked = reply.request
            number = reply.headers.get(REQUEST_ID, "")
            path = asked.url.raw_path.decode("ascii")
            self._trace(f"{asked.method} {path} -> {reply.status_code}{f' (request {number})' if number else ''}")


_URL_HINT = "start one with `relay up`, or name it with --url or RELAY_URL"


def is_loopback(url: str) -> bool:
    """Whether the address is this machine by name or by number."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def authorities() -> ssl.SSLContext:
    """Whom certificates are believed from. Reading them takes a tenth of a second, and several clients need them."""
    return httpx.create_ssl_context()


def _validated(model: type[_Body], body: bytes | str, base_url: str) -> _Body:
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
        detail = f" (at {where})" if where else ""
        raise BadReply(f"{base_url} answered something this version cannot read{detail}", VERSION_HINT) from error


def _event_data(lines: Iterator[str]) -> Iterator[str]:
    """The data of each event of a stream, after
    https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation. The id stands in the
    data as well (`RunEvent.id`), comments are pings.
    """
    data: list[str] = []
    for line in lines:
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
