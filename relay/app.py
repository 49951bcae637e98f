"""The composition root: the only place where the parts of the relay meet. Holds no logic of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from prometheus_client import CollectorRegistry
from starlette.concurrency import run_in_threadpool
from starlette.routing import BaseRoute

from relay.assembly import crcr_parts
from relay.background import background, create_outbox
from relay.context import RelayContext
from relay.metrics.exposition import ProcessFigures, RecordFigures
from relay.metrics.measuring import MeasuringMiddleware
from relay.parts import CrcrParts
from relay.served import served_backends, with_main_device
from relay.settings import RelaySettings, with_secrets
from relay.store.clock import record_clock
from relay.store.engine import Store, open_engine, upgrade_database
from relay.trail.tracing import is_on
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
    edge_api,
    history_api,
    inbox_api,
    log_api,
    manifests_api,
    now_api,
    operator_api,
    pages,
    presence_api,
    probes,
    quality_api,
    read_api,
    stream,
    token_api,
    triage_proxy,
    trunk_api,
    upgrade_api,
    webhook,
    worker_api,
)
from relay.web.auth import ReaderOnly, VisitorOnly, cookie_name
from relay.web.body_cap import BodyCapMiddleware
from relay.web.description import DescribedApi
from relay.web.error_handlers import install_error_handlers
from relay.web.live.access import LiveParts
from relay.web.pages import sign_in
from relay.web.revalidation import RevalidationMiddleware
from relay.web.tracing import TracingMiddleware
from relay.web.visit import VisitMiddleware

ROUTERS: tuple[APIRouter, ...] = (
    webhook.router,
    callback.router,
    worker_api.router,
    presence_api.router,
    triage_proxy.router,
    operator_api.router,
    dispatch_api.router,
    delivery_api.router,
    inbox_api.router,
    backends_api.router,
    audit_api.router,
    edge_api.router,
    token_api.router,
    action_api.router,
    read_api.router,
    log_api.router,
    artifacts_api.router,
    now_api.router,
    presence_api.read_router,
    history_api.router,
    change_api.router,
    trunk_api.router,
    quality_api.router,
    manifests_api.router,
    upgrade_api.router,
    upgrade_api.read_router,
    crcr_results.router,
    crcr_queries.router,
    stream.router,
    probes.router,
    probes.figures_router,
    sign_in.router,
    pages.router,
)
#: Routers that ask for what they need themselves. Everything else is for readers: a new router cannot be forgotten.
OWN_DOORS = (
    probes.router,
    *(webhook.router, callback.router, crcr_results.router, sign_in.router),
    *(worker_api.router, presence_api.router, triage_proxy.router),
    *(operator_api.router, dispatch_api.router, token_api.router, action_api.router, upgrade_api.router),
)


def create_app(
    settings: RelaySettings,
    *,
    crcr: CrcrParts | None = None,
    now: Callable[[], datetime] | None = None,
    answers_only: bool = False,
) -> FastAPI:
    """The web application of one relay process. While it serves, its threads also do what `relay.background` names,
    unless it only answers: another process does then. `crcr` stands in for the parts of the protocol that the settings
    name.

    Raises:
        SettingsError: the settings do not let the service start.
    """
    context = replace(create_context(settings, crcr=crcr, now=now), answers_only=answers_only)
    app = DescribedApi(
        reading_takes_token=context.settings.read_access != "public",
        cookie=cookie_name(context),
        title="OOT relay",
        version=version("oot-relay"),
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        # Spans are ours to send: FastAPI's hold what a caller wrote.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        redirect_slashes=False,
        routes=_routes(),
        lifespan=partial(_lifespan, context),
    )
    app.state.relay = context
    app.state.live = LiveParts.on(context.store)
    app.add_middleware(BodyCapMiddleware)
    app.add_middleware(RevalidationMiddleware, private=context.settings.read_access != "public")
    app.add_middleware(VisitMiddleware, https=context.settings.public_url.startswith("https://"))
    app.state.figures = CollectorRegistry()
    app.state.figures.register(RecordFigures(partial(probes.read_figures, context)))
    app.add_middleware(MeasuringMiddleware, figures=ProcessFigures(app.state.figures))
    if is_on():
        app.add_middleware(TracingMiddleware)
    install_error_handlers(app)
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Every address with its door. Once for all applications of a process: what FastAPI makes of the signatures is kept
    in them, and takes longer than all the rest of an application."""
    together = APIRouter()
    for router in ROUTERS:
        door = () if router in OWN_DOORS else (VisitorOnly,) if router is pages.router else (ReaderOnly,)
        together.include_router(router, dependencies=door)
    return together.routes


def create_context(
    settings: RelaySettings, *, crcr: CrcrParts | None = None, now: Callable[[], datetime] | None = None
) -> RelayContext:
    """The parts of a relay process without its web application, with the schema up to date. The clock is the record's,
    unless `now` stands in for it.

    Raises:
        SettingsError: the settings do not let the service start.
    """
    backends = served_backends(settings)
    complete = with_main_device(with_secrets(settings), backends)
    engine = open_engine(complete.database_url)
    with ExitStack() as opened:
        opened.callback(engine.dispose)
        clock = now or record_clock(engine, ask=not complete.upgrade_on_start)
        if complete.upgrade_on_start:
            upgrade_database(engine)
        store = Store(engine)
        waker = CeleryWaker(complete.broker_url, {backend.device: backend.queue for backend in backends})
        opened.callback(waker.close)
        parts = crcr or crcr_parts(complete, store, clock)
        # From here on it is the context's to close.
        opened.pop_all()
    context = RelayContext(settings=complete, store=store, waker=waker, backends=backends, crcr=parts, now=clock)
    return context if context.crcr is None else replace(context, outbox=create_outbox(context))


@asynccontextmanager
async def _lifespan(context: RelayContext, app: FastAPI) -> AsyncIterator[None]:
    work: AbstractContextManager[None] = nullcontext() if context.answers_only else background(context)
    await run_in_threadpool(work.__enter__)
    try:
        yield
    finally:
        await run_in_threadpool(work.__exit__, None, None, None)
        await run_in_threadpool(app.state.live.events.close)
        context.close()
