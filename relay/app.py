"""The composition root: the only place where the parts of the relay meet. Holds no logic of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, time
from functools import partial
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool

from relay.assembly import crcr_parts
from relay.context import RelayContext, utc_now
from relay.crcr import demotions, missed, senders, zombies
from relay.intake.deliveries import sweep_deliveries
from relay.manifests import ManifestStore
from relay.outbox.delivering import Deliverer
from relay.parts import CrcrParts
from relay.runs.audits import open_daily_audit
from relay.runs.leases import LeaseTerms
from relay.runs.sweeper import Chore, Sweeper
from relay.settings import RelaySettings, with_secrets
from relay.store.engine import Store, open_engine, upgrade_database
from relay.wake import CeleryWaker
from relay.web import (
    action_api,
    artifacts_api,
    audit_api,
    backends_api,
    callback,
    change_api,
    crcr_queries,
    crcr_results,
    delivery_api,
    dispatch_api,
    history_api,
    inbox_api,
    log_api,
    manifests_api,
    now_api,
    operator_api,
    pages,
    quality_api,
    read_api,
    stream,
    token_api,
    triage_proxy,
    trunk_api,
    webhook,
    worker_api,
)
from relay.web.auth import ReaderOnly, VisitorOnly
from relay.web.body_cap import BodyCapMiddleware
from relay.web.error_handlers import PROBLEM_RESPONSES, install_error_handlers
from relay.web.live.access import LiveParts
from relay.web.pages import sign_in
from relay.web.revalidation import RevalidationMiddleware
from relay.web.visit import VisitMiddleware

#: A job may be silent for hours; a minute more or less does not matter.
_ZOMBIES_EVERY_S = 60.0
#: A look costs some requests, and what it finds is a quarter of an hour old at least.
_MISSED_EVERY_S = 600.0
#: A lookup costs a request for each L3 backend.
_DEMOTIONS_EVERY_S = 600.0

ROUTERS: tuple[APIRouter, ...] = (
    webhook.router,
    callback.router,
    worker_api.router,
    triage_proxy.router,
    operator_api.router,
    dispatch_api.router,
    delivery_api.router,
    inbox_api.router,
    backends_api.router,
    audit_api.router,
    token_api.router,
    action_api.router,
    read_api.router,
    log_api.router,
    artifacts_api.router,
    now_api.router,
    history_api.router,
    change_api.router,
    trunk_api.router,
    quality_api.router,
    manifests_api.router,
    crcr_results.router,
    crcr_queries.router,
    stream.router,
    sign_in.router,
    pages.router,
)
#: Routers that ask for what they need themselves. Everything else is for readers: a new router cannot be forgotten.
OWN_DOORS = (
    *(webhook.router, callback.router, crcr_results.router, sign_in.router),
    *(worker_api.router, triage_proxy.router),
    *(operator_api.router, dispatch_api.router, token_api.router, action_api.router),
)
#: Routers whose errors are in the form of another protocol, or pages.
OWN_ERRORS = (
    *(webhook.router, callback.router, crcr_results.router, crcr_queries.router),
    *(sign_in.router, pages.router),
)


def create_app(
    settings: RelaySettings, *, crcr: CrcrParts | None = None, now: Callable[[], datetime] = utc_now
) -> FastAPI:
    """The web application of one relay process. While it serves, its sweep runs in a thread. `crcr` stands in for the
    parts of the protocol that the settings name.

    Raises:
        SettingsError: the settings do not let the service start.
    """
    context = create_context(settings, crcr=crcr, now=now)
    app = FastAPI(
        title="OOT relay",
        version=version("oot-relay"),
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        redirect_slashes=False,
        lifespan=partial(_lifespan, context),
    )
    app.state.relay = context
    app.state.live = LiveParts.on(context.store)
    app.add_middleware(BodyCapMiddleware)
    app.add_middleware(RevalidationMiddleware, private=context.settings.read_access != "public")
    app.add_middleware(VisitMiddleware, https=context.settings.public_url.startswith("https://"))
    install_error_handlers(app)
    for router in ROUTERS:
        door = () if router in OWN_DOORS else (VisitorOnly,) if router is pages.router else (ReaderOnly,)
        refusals = None if router in OWN_ERRORS else PROBLEM_RESPONSES
        app.include_router(router, dependencies=door, responses=refusals)
    return app


def create_context(
    settings: RelaySettings, *, crcr: CrcrParts | None = None, now: Callable[[], datetime] = utc_now
) -> RelayContext:
    """The parts of a relay process without its web application, with the schema up to date.

    Raises:
        SettingsError: the settings do not let the service start.
    """
    complete = with_secrets(settings)
    engine = open_engine(complete.database_url)
    if complete.upgrade_on_start:
        upgrade_database(engine)
    store = Store(engine)
    context = RelayContext(
        settings=complete,
        store=store,
        waker=CeleryWaker(complete.broker_url),
        manifests=ManifestStore(complete.manifest_dir),
        crcr=crcr or crcr_parts(complete, store, now),
        now=now,
    )
    return context if context.crcr is None else replace(context, outbox=_outbox(context))


def _outbox(context: RelayContext) -> Deliverer:
    workers = context.settings.crcr_dispatch_workers
    return Deliverer(context.store, senders.build(context), context.now, workers)


def create_sweeper(context: RelayContext) -> Sweeper:
    """The sweep of this process, not started yet."""
    settings = context.settings
    return Sweeper(
        context.store,
        context.waker,
        LeaseTerms(settings.lease_seconds, settings.max_attempts),
        interval_s=settings.sweep_seconds,
        now=context.now,
        process_deliveries=partial(sweep_deliveries, context),
        chores=tuple(_chores(context)),
    )


def _chores(context: RelayContext) -> Iterator[Chore]:
    if context.settings.audit_at:
        yield Chore("audit of the day", partial(_start_audit, context))
    if context.crcr is not None:
        yield Chore("silent jobs", partial(zombies.sweep, context), every_s=_ZOMBIES_EVERY_S)
        yield Chore("demotions", partial(demotions.reconcile, context), every_s=_DEMOTIONS_EVERY_S)
        yield Chore("missed webhooks", partial(missed.sweep, context), every_s=_MISSED_EVERY_S)
        for work in context.crcr.upkeep:
            yield Chore("lists", work)


def _start_audit(context: RelayContext) -> None:
    settings = context.settings
    at = time.fromisoformat(settings.audit_at)
    with context.store.writing() as session:
        open_daily_audit(session, settings.upstream_repo, settings.device, at, context.now())


@asynccontextmanager
async def _lifespan(context: RelayContext, _app: FastAPI) -> AsyncIterator[None]:
    sweeper = create_sweeper(context)
    sweeper.start()
    if context.outbox is not None:
        context.outbox.start()
    try:
        yield
    finally:
        if context.outbox is not None:
            await run_in_threadpool(context.outbox.stop)
        await run_in_threadpool(sweeper.stop)
        if context.crcr is not None:
            context.crcr.close()
        context.waker.close()
        context.store.engine.dispose()
