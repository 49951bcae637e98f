"""A small relay on loopback: real HTTP, the worker API's shapes, and a record of what arrived."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from relay.contract import (
    Accepted,
    Heartbeat,
    HeartbeatReply,
    Lease,
    LeaseRequest,
    LogKind,
    LogLine,
    LogPosted,
    LogTaken,
    Past,
    PastAsked,
    PresenceReply,
    ResultsPosted,
    SelectionPosted,
    ShardFinished,
    TestResult,
    WorkerPresent,
)
from tests.relay.serving import serving as serving_app

TOKEN = "worker-token-of-the-test"


@dataclass
class RelayDouble:
    """Leases are handed out in order. `failures` are status codes answered before anything else is looked at, per
    verb; `lost` and `cancelled` hold lease ids, `wanted` each try of a question for work, however it was answered."""

    url: str = ""
    leases: deque[Lease] = field(default_factory=deque)
    failures: dict[str, deque[int]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    cancelled: set[str] = field(default_factory=set)
    asked: int = 0
    wanted: list[LeaseRequest] = field(default_factory=list)
    present: list[WorkerPresent] = field(default_factory=list)
    present_every_s: float = 20.0
    heartbeats: list[Heartbeat] = field(default_factory=list)
    past_asked: list[PastAsked] = field(default_factory=list)
    selections: list[SelectionPosted] = field(default_factory=list)
    posted: list[ResultsPosted] = field(default_factory=list)
    finished: list[ShardFinished] = field(default_factory=list)
    attempts: list[tuple[str, int]] = field(default_factory=list)
    logs: dict[str, list[LogLine]] = field(default_factory=dict)
    log_cap: int = 100_000

    @property
    def log(self) -> list[tuple[LogKind, str]]:
        """The lines of all leases, lease by lease."""
        return [(line.kind, line.text) for log in self.logs.values() for line in log]

    @property
    def results(self) -> list[TestResult]:
        return [result for batch in self.posted for result in batch.results]

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/api/v1/worker/lease")
        def lease(body: LeaseRequest, request: Request) -> Response:
            self.wanted.append(body)
            refusal = self._refusal("lease", request, "")
            if refusal:
                return refusal
            self.asked += 1
            if not self.leases:
                return Response(status_code=204)
            return JSONResponse(self.leases.popleft().model_dump(mode="json"))

        @app.post("/api/v1/worker/shards/{shard}/heartbeat")
        def heartbeat(shard: int, body: Heartbeat, request: Request) -> Response:
            refusal = self._refusal("heartbeat", request, body.lease_id)
            if refusal:
                return refusal
            self.heartbeats.append(body)
            return JSONResponse(HeartbeatReply(cancelled=body.lease_id in self.cancelled).model_dump())

        @app.post("/api/v1/worker/presence")
        def presence(body: WorkerPresent, request: Request) -> Response:
            refusal = self._refusal("presence", request, "")
            if refusal:
                return refusal
            self.present.append(body)
            return JSONResponse(PresenceReply(again_in_s=self.present_every_s).model_dump())

        @app.post("/api/v1/worker/past")
        def past(body: PastAsked) -> Response:
            self.past_asked.append(body)
            return JSONResponse(Past().model_dump())

        @app.post("/api/v1/worker/shards/{shard}/selection")
        def selection(shard: int, body: SelectionPosted, request: Request) -> Response:
            return self._take("selection", request, body.lease_id, lambda: self.selections.append(body))

        @app.post("/api/v1/worker/shards/{shard}/results")
        def results(shard: int, body: ResultsPosted, request: Request) -> Response:
            self.attempts.append(("results", body.sequence))
            return self._take("results", request, body.lease_id, lambda: self.posted.append(body))

        @app.post("/api/v1/worker/shards/{shard}/log")
        def log(shard: int, body: LogPosted, request: Request) -> Response:
            refusal = self._refusal("log", request, body.lease_id)
            if refusal:
                return refusal
            log = self.logs.setdefault(body.lease_id, [])
            assert body.first <= len(log), "lines are missing"
            log += body.lines[len(log) - body.first :]
            return JSONResponse(LogTaken(lines=len(log), full=len(log) >= self.log_cap).model_dump())

        @app.post("/api/v1/worker/shards/{shard}/finish")
        def finish(shard: int, body: ShardFinished, request: Request) -> Response:
            return self._take("finish", request, body.lease_id, lambda: self.finished.append(body))

        return app

    def _take(self, verb: str, request: Request, lease_id: str, record: Callable[[], None]) -> Response:
        refusal = self._refusal(verb, request, lease_id)
        if refusal:
            return refusal
        record()
        return JSONResponse(Accepted().model_dump())

    def _refusal(self, verb: str, request: Request, lease_id: str) -> Response | None:
        waiting = self.failures.get(verb)
        if waiting:
            return JSONResponse({"code": "failure", "message": "as told"}, status_code=waiting.popleft())
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return JSONResponse({"code": "unauthorized", "message": "no"}, status_code=401)
        if lease_id in self.lost:
            return JSONResponse({"code": "lease_lost", "message": "taken over"}, status_code=409)
        return None


@contextmanager
def serving(relay: RelayDouble) -> Iterator[RelayDouble]:
    """The double behind a real server on a free loopback port."""
    with serving_app(relay.app()) as relay.url:
        yield relay
