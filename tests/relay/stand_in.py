"""A small relay API on a real loopback port, for tests of the programs that read it: fixed runs, real HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Body, FastAPI, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from relay.contract import Attempt, Decision, Expected, FilteredTest, FunnelStep, Observation, TestedOn, Tree
from relay.edge_views import EdgeView
from relay.found_views import FoundTestPage, FoundTestView
from relay.now_views import NowView, WorkerAbout, WorkerNow, WorkerState, WorkersView
from relay.outbox.views import LetterPage, LetterState, LetterView, Replayed, ReplayRequest
from relay.runs.confinement import weak_sandboxes
from relay.runs.worker_differences import differences
from relay.views import (
    ApiError,
    BranchFailure,
    Conclusion,
    DecisionPage,
    FlakeRate,
    Health,
    RunDetail,
    RunEvent,
    RunHistory,
    RunPage,
    RunState,
    RunSummary,
    ShardView,
    TestHistory,
    TestOutcome,
    TestPage,
    TestView,
    Verdict,
)
from tests.relay.refusing import refuse_by_token
from tests.relay.serving import serving as serving_app
from tests.relay.stand_in_desk import add_desk_routes
from tests.relay.stand_in_edges import add_edge_routes
from tests.relay.stand_in_log import StandInLog, add_log_route

TOKEN = "operator-token-of-the-stand-in"
CREATED = datetime(2024, 5, 4, 10, 0, tzinfo=UTC)


def a_run(run_id: int, state: RunState, conclusion: Conclusion | None = None, title: str = "Change relu") -> RunSummary:
    """A run with three tests, all of them reported."""
    return RunSummary(
        id=run_id,
        repo="pytorch/pytorch",
        pr_number=100 + run_id,
        title=title,
        base_sha="a" * 40,
        head_sha="b" * 40,
        device="spyre",
        trigger="pull_request",
        attempt=1,
        rerun_of=None,
        state=state,
        conclusion=conclusion,
        headline="1 regression in 3 tests" if conclusion is Conclusion.FAILURE else "3 tests, all as expected",
        planned=3,
        reported=3,
        verdicts={Verdict.OK: 2, Verdict.REGRESSION: 1} if conclusion is Conclusion.FAILURE else {Verdict.OK: 3},
        created_at=CREATED,
        started_at=CREATED,
        finished_at=CREATED,
        url=f"http://relay.invalid/runs/{run_id}",
    )


def a_failure(detail: str = "AssertionError: Tensor-likes are not close!") -> TestView:
    """A regression with its assertion."""
    attempt = Attempt(tree=Tree.HEAD, number=1, observation=Observation.FAILED, duration_s=0.1, detail=detail)
    return TestView(
        id="test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32",
        file="test/test_ops.py",
        base="test/test_ops.py::TestOps::test_relu",
        expected=Expected.MANDATORY_SUCCESS,
        rule="listed",
        provenance="ops.yaml:12",
        tags=(),
        shard_id=1,
        verdict=Verdict.REGRESSION,
        observation=Observation.FAILED,
        duration_s=0.1,
        detail=detail,
        attempts=(attempt,),
    )


def a_history(test: str, *verdicts: Verdict, failing: bool = False) -> TestHistory:
    """What runs found out about a test, the newest first and numbered from the end."""
    outcomes = tuple(
        TestOutcome(
            run_id=number,
            at=CREATED,
            repo="pytorch/pytorch",
            pr_number=None if verdict is Verdict.OK else 100 + number,
            title="Change relu",
            head_sha="b" * 40,
            base_sha="a" * 40,
            trigger="push",
            expected=Expected.MANDATORY_SUCCESS,
            verdict=verdict,
            observation=Observation.PASSED,
            seconds=0.25,
            on_branch=verdict is Verdict.OK,
        )
        for number, verdict in zip(range(len(verdicts), 0, -1), verdicts, strict=True)
    )
    since = BranchFailure(first_bad=outcomes[-1], last_good=None, outcomes=len(outcomes)) if failing else None
    flakes = FlakeRate(test=test, device="spyre", runs=4, attempts=5, commits=3, disagreements=1)
    return TestHistory(test=test, device="spyre", outcomes=outcomes, next_before=None, failing=since, flakes=flakes)


def a_dead_letter(letter_id: int) -> LetterView:
    """A dispatch that a backend refused."""
    return LetterView(
        id=letter_id,
        kind="dispatch",
        state=LetterState.DEAD,
        target="acme/torch",
        attempts=3,
        due_at=CREATED,
        created_at=CREATED,
        settled_at=CREATED,
        status=403,
        error="403 Forbidden",
    )


def a_worker(
    name: str, state: WorkerState = WorkerState.IDLE, torch: str = "2.13.0", version: str = "9.9.9", trouble: str = ""
) -> WorkerNow:
    """One that has worked on run 3."""
    environment = TestedOn(name="default", torch_version=torch, python_version="3.11.7", device_profile="compat")
    about = WorkerAbout(
        version=version, sandbox="bubblewrap", environments=(environment,), started_at=CREATED, trouble=trouble
    )
    return WorkerNow(name=name, device="spyre", state=state, seen_at=CREATED, run_id=3, kind="test", about=about)


def events_of(run_id: int, count: int) -> list[RunEvent]:
    """The first events of a run."""
    return [RunEvent(id=n, run_id=run_id, at=CREATED, kind="state", text=f"event {n}") for n in range(1, count + 1)]


#: Of every run: one that selected, and one that ran the tests.
SHARDS = tuple(
    ShardView(id=number, kind=kind, state="done", attempt=1, worker="w1", progress="", tests=3, reported=3, error="")
    for number, kind in ((1, "select"), (2, "test"))
)


@dataclass
class StandIn:
    """What the service holds, and how its event stream misbehaves. `seen` lists the Last-Event-ID of each stream."""

    runs: dict[int, RunSummary]
    failures: list[TestView] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    filtered: list[FilteredTest] = field(default_factory=list)
    histories: list[TestHistory] = field(default_factory=list)
    edges: list[EdgeView] = field(default_factory=list)
    selection_state: str | None = "selected"
    events: list[RunEvent] = field(default_factory=list)
    events_per_stream: int = 1000
    streams: bool = True
    finish_after_streams: int = 0
    finish_after_looks: int = 0
    seen: list[str] = field(default_factory=list)
    looks: int = 0
    tokens: list[str] = field(default_factory=list)
    read_tokens: list[str] = field(default_factory=list)
    reruns: list[dict[str, object]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    letters: dict[str, int] = field(default_factory=dict)
    url: str = ""
    manifest_problem: str = ""
    #: What waits; None for a service too old to tell.
    now: NowView | None = None
    workers: list[WorkerNow] | None = field(default_factory=lambda: [a_worker("w1")])
    tested_on: TestedOn | None = None

    def verdict_of(self, test: str) -> Verdict | None:
        """That of the newest outcome of a test."""
        return next((it.outcomes[0].verdict for it in self.histories if it.test == test), None)

    log: StandInLog = field(default_factory=StandInLog)


def _no_run(run_id: int) -> JSONResponse:
    return JSONResponse(
        ApiError(code="not_found", message=f"run {run_id} is unknown").model_dump(), 404, {"X-Request-Id": "request-8"}
    )


def _add_service_routes(app: FastAPI, state: StandIn) -> None:
    """What the service says of itself, of what leaves it, and of what happened."""

    @app.get("/api/v1/health")
    def health() -> Health:
        return Health(status="ok", database="ok", device="spyre", manifest_problem=state.manifest_problem)

    @app.get("/api/v1/version")
    def version() -> dict[str, str]:
        return {"name": "oot-relay", "version": "9.9.9"}

    @app.get("/api/v1/workers")
    def workers() -> Response:
        if state.workers is None:
            return JSONResponse(ApiError(code="not_found", message="no such path").model_dump(), 404)
        told = WorkersView(workers=tuple(state.workers), differences=differences(state.workers))
        return JSONResponse(told.model_dump(mode="json"))

    @app.get("/api/v1/now")
    def now() -> Response:
        if state.now is None:
            return JSONResponse(ApiError(code="not_found", message="no such path").model_dump(), 404)
        return JSONResponse(state.now.model_dump(mode="json"))

    @app.get("/api/v1/outbox")
    def outbox() -> LetterPage:
        counts = {LetterState(name): count for name, count in state.letters.items()}
        return LetterPage(letters=tuple(map(a_dead_letter, range(1, counts.get(LetterState.DEAD, 0) + 1))),
                          next_before=None, counts=counts)  # fmt: skip  # one page of them

    @app.post("/api/v1/outbox/replay")
    def replay(request: Request, wanted: ReplayRequest) -> Replayed:
        state.tokens.append(request.headers.get("authorization", ""))
        return Replayed(replayed=wanted.ids, untouched=())

    @app.get("/api/v1/tests")
    def found(q: str, limit: int = 100) -> FoundTestPage:
        ids = [it.test for it in state.histories if q.lower() in it.test.lower()]
        tests = tuple(FoundTestView(id=it, run_id=1, verdict=state.verdict_of(it)) for it in sorted(ids)[:limit])
        return FoundTestPage(tests=tests, device="spyre", runs=10)

    @app.get("/api/v1/tests/history")
    def history_of(test: Annotated[str, Query(alias="id")], limit: int = 100) -> Response:
        told = next((it for it in state.histories if it.test == test), None)
        if told is None:
            return JSONResponse(ApiError(code="not_found", message="no run planned it").model_dump(), 404)
        cut = {"outcomes": told.outcomes[:limit], "next_before": 1 if len(told.outcomes) > limit else None}
        return JSONResponse(told.model_copy(update=cut).model_dump(mode="json"))

    @app.get("/api/v1/runs/{run_id}/history")
    def history(run_id: int, after: int = 0) -> Response:
        if run_id not in state.runs:
            return _no_run(run_id)
        due = [event for event in state.events if event.id > after][: state.events_per_stream]
        more = due[-1].id if due and due[-1] != state.events[-1] else None
        page = RunHistory(events=tuple(due), next_after=more, over=more is None)
        return JSONResponse(page.model_dump(mode="json"))


def make_app(state: StandIn) -> FastAPI:
    """The part of the API that the client uses."""
    app = FastAPI()
    refuse_by_token(app)
    _add_service_routes(app, state)
    add_edge_routes(app, state.edges)
    add_desk_routes(app, state.runs, a_dead_letter(17))
    add_log_route(app, state.log, state.runs.__contains__)

    def finish(run_id: int) -> None:
        state.runs[run_id] = state.runs[run_id].model_copy(
            update={"state": RunState.FINISHED, "conclusion": Conclusion.SUCCESS}
        )

    @app.get("/api/v1/runs")
    def runs(
        request: Request,
        wanted: Annotated[RunState | None, Query(alias="state")] = None,
        conclusion: Conclusion | None = None,
        pr: int | None = None,
        limit: int = 20,
    ) -> RunPage:
        state.asked.append(request.url.query)
        state.read_tokens.append(request.headers.get("authorization", ""))
        found = [
            run
            for run in sorted(state.runs.values(), key=lambda it: -it.id)
            if wanted in {None, run.state} and conclusion in {None, run.conclusion} and pr in {None, run.pr_number}
        ]
        return RunPage(runs=tuple(found[:limit]), next_before=None)

    @app.get("/api/v1/runs/{run_id}")
    def run(run_id: int) -> Response:
        state.looks += 1
        if run_id not in state.runs:
            return _no_run(run_id)
        if state.finish_after_looks and state.looks >= state.finish_after_looks:
            finish(run_id)
        step = FunnelStep(stage=1, name="change", entered=3, left=1, unit="files", summary="1 source file changed")
        detail = RunDetail(
            run=state.runs[run_id],
            selection_state=state.selection_state,
            funnel=(step,),
            changed_files=(),
            notes=("offline ranker",),
            not_tested=None,
            shards=SHARDS,
            kept=1,
            dropped=2,
            filtered=0,
            tested_on=state.tested_on,
            weak_sandboxes=weak_sandboxes(state.tested_on, SHARDS),
        )
        return JSONResponse(detail.model_dump(mode="json"))

    @app.get("/api/v1/runs/{run_id}/tests")
    def tests(run_id: int, verdict: Verdict | None = None) -> TestPage:
        found = tuple(test for test in state.failures if test.verdict is verdict)
        return TestPage(tests=found, total=len(found))

    @app.get("/api/v1/runs/{run_id}/decisions")
    def decisions(run_id: int, q: str = "") -> DecisionPage:
        found = tuple(decision for decision in state.decisions if q in decision.test)
        kept_out = tuple(test for test in state.filtered if q in test.id)
        return DecisionPage(decisions=found, filtered=kept_out, total=len(found))

    @app.get("/api/v1/runs/{run_id}/junit.xml")
    def junit(run_id: int) -> Response:
        if run_id not in state.runs:
            return _no_run(run_id)
        if state.runs[run_id].state is RunState.RUNNING:
            error = ApiError(code="run_unfinished", message="the run is not finished yet", hint="wait for it")
            return JSONResponse(error.model_dump(), 409)
        return Response(f'<testsuites name="run {run_id}"/>', media_type="application/xml")

    @app.get("/api/v1/runs/{run_id}/events")
    def events(run_id: int, request: Request) -> Response:
        if not state.streams:
            return PlainTextResponse("a proxy's page")
        after = int(request.headers["last-event-id"])
        state.seen.append(request.headers["last-event-id"])
        due = [event for event in state.events if event.id > after][: state.events_per_stream]
        if state.finish_after_streams and len(state.seen) >= state.finish_after_streams:
            finish(run_id)

        def lines() -> Iterator[str]:
            yield ": ping\n\n"
            for event in due:
                yield f"id: {event.id}\nevent: message\ndata: {event.model_dump_json()}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    @app.post("/api/v1/runs/{run_id}/rerun")
    def rerun(run_id: int, request: Request, wanted: Annotated[dict[str, object], Body()]) -> Response:
        if refused := _refuse(request):
            return refused
        if run_id not in state.runs:
            return _no_run(run_id)
        if state.runs[run_id].state is RunState.RUNNING:
            error = ApiError(code="not_finished", message="the run is not finished yet", hint="cancel it first")
            return JSONResponse(error.model_dump(), 409, headers={"X-Request-Id": "request-7"})
        state.reruns.append(wanted)
        return JSONResponse(a_run(99, RunState.RECEIVED).model_dump(mode="json"))

    @app.post("/api/v1/runs/{run_id}/cancel")
    def cancel(run_id: int, request: Request) -> Response:
        if refused := _refuse(request):
            return refused
        return JSONResponse(a_run(run_id, RunState.CANCELLED).model_dump(mode="json"))

    def _refuse(request: Request) -> JSONResponse | None:
        state.tokens.append(request.headers.get("authorization", ""))
        if state.tokens[-1] == f"Bearer {TOKEN}":
            return None
        return JSONResponse(ApiError(code="bad_token", message="the operator token is wrong").model_dump(), 401)

    return app


@contextmanager
def serving(state: StandIn) -> Iterator[StandIn]:
    """The stand-in on a free loopback port."""
    with serving_app(make_app(state)) as state.url:
        yield state


@contextmanager
def closed_port() -> Iterator[str]:
    """An address of this machine where nobody answers: the port is bound, and nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
