"""The worker API: leases, heartbeats, reports. Translates between `relay.contract` and `relay.runs`, nothing more.

Every handler commits first and wakes workers afterwards, so that nobody is woken for what is not in the record yet.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from relay import queue_words
from relay.context import Context, RelayContext
from relay.contract import (
    MANIFEST_PROBLEM_CAP,
    Accepted,
    Change,
    Heartbeat,
    HeartbeatReply,
    Lease,
    LeaseRequest,
    LogPosted,
    LogTaken,
    MissedWith,
    ObservedOperators,
    OperatorsAsked,
    Past,
    PastAsked,
    ResultsPosted,
    SelectionPosted,
    SelectOrder,
    ShardFinished,
    ShardKind,
    TestedOn,
    TestOrder,
    TriageBudget,
    TriageSettings,
)
from relay.errors import BadMessageError, LeaseLostError
from relay.manifests import LoadedManifests
from relay.queue_terms import terms_of
from relay.queue_views import WorkClass
from relay.runs.leases import LeasedShard, LeasedTest, due_shards, heartbeat, lease_next
from relay.runs.misses import missed_with
from relay.runs.operators import observed_uses
from relay.runs.past import seconds_of
from relay.runs.past_outcomes import failed_last, failed_with
from relay.runs.reporting import accept_results, accept_selection, finish_shard
from relay.runs.run_log import accept_log
from relay.runs.spans import run_traceparent
from relay.runs.sweeper import MOST_WAKES
from relay.served import not_served
from relay.settings import RelaySettings
from relay.store.models import Run
from relay.web.auth import WorkerOnly
from relay.web.refusals import refuses

router = APIRouter(prefix="/api/v1/worker", tags=["worker"], dependencies=[WorkerOnly])

_NOT_SERVED = not_served("basalt", ("spyre", "quartz"))
_LOST = LeaseLostError("The lease is not the current one of shard 512.", "Stop this work, and ask for another shard.")
_GAP = BadMessageError(
    "The log of shard 512 has 24 lines of this lease, and the chunk begins after 40.", "Send the lines in order."
)
_TWICE = BadMessageError("A test is reported twice in one message.", "Send one result per test.")

ShardId = Annotated[int, Path(description="A shard's number, as the lease names it")]


@router.post(
    "/lease",
    response_model=Lease,
    summary="Take the next shard",
    responses=refuses(_NOT_SERVED) | {204: {"description": "Nothing is due", "model": None}},
)
def lease(context: Context, wanted: LeaseRequest) -> Response:
    """The next due shard of the worker's device, or 204. The same `request` again is answered with the same lease as
    long as that lasts, and with other work, or 204, once it has ended."""
    backend = context.backend_of(wanted.device)
    if backend is None:
        raise not_served(wanted.device, context.devices)
    manifests = backend.manifests.current()
    with context.store.writing() as session:
        now, terms = context.now(), terms_of(context.settings)
        leased = lease_next(
            session, wanted.device, wanted.worker, now, terms, sandbox=wanted.sandbox, request=wanted.request
        )
        if leased is None:
            return Response(status_code=204)
        if leased.shard.kind is ShardKind.SELECT:
            leased.run.manifest_digest = manifests.digest
    # Made after the commit, for others wait for that; and written once, where FastAPI would take it apart and check it.
    return Response(_message(context, leased, manifests).model_dump_json(), media_type="application/json")


@router.post("/shards/{shard_id}/heartbeat", summary="Keep a lease", responses=refuses(_LOST))
def beat(context: Context, shard_id: ShardId, posted: Heartbeat) -> HeartbeatReply:
    """Keeps a lease alive and tells whether the run was cancelled."""
    with context.store.writing() as session:
        cancelled = heartbeat(session, shard_id, posted, context.now(), terms_of(context.settings))
    return HeartbeatReply(cancelled=cancelled)


@router.post("/shards/{shard_id}/selection", summary="Report a selection", responses=refuses(_LOST, _TWICE))
def selection(context: Context, shard_id: ShardId, posted: SelectionPosted) -> Accepted:
    """Takes in a selection and its plan, and wakes workers for the planned shards."""
    with context.store.writing() as session:
        accept_selection(session, shard_id, posted, context.now())
    _wake(context)
    return Accepted()


@router.post("/shards/{shard_id}/results", summary="Report results", responses=refuses(_LOST, _TWICE))
def results(context: Context, shard_id: ShardId, posted: ResultsPosted) -> Accepted:
    """Takes in results; each test keeps the first verdict it gets."""
    with context.store.writing() as session:
        accept_results(session, shard_id, posted, context.now())
    return Accepted()


@router.post("/shards/{shard_id}/log", summary="Send what a shard prints", responses=refuses(_LOST, _GAP))
def log(context: Context, shard_id: ShardId, posted: LogPosted) -> LogTaken:
    """Takes in what the shard printed. A chunk that comes again is kept once; `full` says that no more is wanted."""
    with context.store.writing() as session:
        return accept_log(session, shard_id, posted, context.now(), context.settings.log_shard_bytes)


@router.post("/shards/{shard_id}/finish", summary="End a lease", responses=refuses(_LOST))
def finish(context: Context, shard_id: ShardId, posted: ShardFinished) -> Accepted:
    """Ends a lease, and wakes workers when its shard is due again."""
    with context.store.writing() as session:
        due_again = finish_shard(session, shard_id, posted, context.now(), terms_of(context.settings))
    if due_again:
        _wake(context)
    return Accepted()


@router.post("/operators", summary="Which tests were seen to use operators")
def operators(context: Context, asked: OperatorsAsked) -> ObservedOperators:
    """Tells a selection which base tests were seen to use some operators on the device."""
    with context.store.reading() as session:
        return observed_uses(session, asked.device, asked.operators)


@router.post("/past", summary="How tests did before")
def past(context: Context, asked: PastAsked) -> Past:
    """Tells a selection how long the tests of some files took on the device, and which tests changes broke before."""
    with context.store.reading() as session:
        return Past(
            durations=seconds_of(session, asked.device, asked.files),
            failed_last=failed_last(session, asked),
            failed_with=failed_with(session, asked.device, asked.paths, context.now()),
            missed_with=tuple(
                MissedWith(path=edge.changed_path, test=edge.base_test, evidence=edge.evidence)
                for edge in missed_with(session, asked.device, asked.paths)
            ),
        )


def _wake(context: RelayContext) -> None:
    with context.store.reading() as session:
        due = due_shards(session)
    for device, count in due.items():
        for _ in range(min(count, MOST_WAKES)):
            if not context.waker.wake(device):
                break


def _message(context: RelayContext, leased: LeasedShard, manifests: LoadedManifests) -> Lease:
    run, shard = leased.run, leased.shard
    return Lease(
        lease_id=shard.lease_id or "",
        shard_id=shard.id,
        run_id=run.id,
        kind=shard.kind,
        attempt=shard.attempt,
        expires_in_s=context.settings.lease_seconds,
        change=_change(run, context.settings.upstream_clone_url),
        select=_select_order(context, leased, manifests) if shard.kind is ShardKind.SELECT else None,
        tests=tuple(_order(test) for test in leased.tests),
        models=manifests.models(test.file for test in leased.tests),
        tested_on=TestedOn.model_validate(run.tested_on) if run.tested_on and shard.kind is ShardKind.TEST else None,
        traceparent=run_traceparent(run),
    )


def _order(test: LeasedTest) -> TestOrder:
    return TestOrder(
        id=test.test_id, file=test.file, expected=test.expected, isolate=test.isolate, timeout_s=test.timeout_s
    )


def _change(run: Run, clone_url: str) -> Change:
    return Change(
        repo=run.repo,
        clone_url=clone_url,
        fetch_ref=run.fetch_ref,
        base_sha=run.base_sha,
        head_sha=run.head_sha,
        pr_number=run.pr_number,
        title=run.title,
        body=run.body,
    )


def _triage(settings: RelaySettings) -> TriageSettings:
    return TriageSettings(
        model=settings.llm_model,
        timeout_s=settings.llm_timeout_s,
        provider=settings.llm_provider,
        budget=TriageBudget(
            calls=settings.llm_calls,
            rounds=settings.llm_rounds,
            tokens=settings.llm_tokens,
            answer_tokens=settings.llm_answer_tokens,
            wall_s=settings.llm_wall_s,
            money=settings.llm_money,
            price_in=settings.llm_price_in,
            price_out=settings.llm_price_out,
        ),
    )


def _select_order(context: RelayContext, leased: LeasedShard, manifests: LoadedManifests) -> SelectOrder:
    settings, run = context.settings, leased.run
    budget_s, note = _budget(settings, leased)
    return SelectOrder(
        manifests=manifests.texts,
        manifest_problem=(manifests.problem or "")[:MANIFEST_PROBLEM_CAP],
        triage=_triage(settings) if settings.llm_configured else None,
        only=tuple(run.only),
        release=run.release,
        shard_size=settings.shard_size,
        shard_seconds=settings.shard_seconds,
        full=run.full,
        budget_s=budget_s,
        budget_note=note,
        holdout=settings.holdout_share,
    )


def _budget(settings: RelaySettings, leased: LeasedShard) -> tuple[float | None, str]:
    """The seconds of tests that a run may plan beside those that must run, and why they are fewer than usual. What a
    person asked for by hand, or whole, is not cut."""
    run, usual = leased.run, settings.selection_budget_s
    may_be_cut = run.work_class is WorkClass.PULL_REQUEST and not (run.asked or run.full or run.only)
    if not leased.backlog_s or not may_be_cut or (usual is not None and usual <= settings.deep_budget_s):
        return usual, ""
    return settings.deep_budget_s, queue_words.smaller_budget(settings.deep_budget_s, leased.backlog_s)
