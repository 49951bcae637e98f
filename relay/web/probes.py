"""`/healthz`, `/readyz` and `/metrics`: what an orchestrator and Prometheus ask. Not under `/api/v1`: these names are
theirs, and their form is; so the description of the API leaves them out.

Probes tell no secrets and take no token; figures are for readers.
"""

from __future__ import annotations

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client.exposition import choose_encoder
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from relay.context import Context, RelayContext
from relay.metrics.pulse import Pulse, Recent, look_back, take_pulse
from relay.queue_terms import policy_of
from relay.views import Readiness

_log = structlog.get_logger(__name__)

router = APIRouter()
figures_router = APIRouter()

#: Sweeps come every few seconds; without one for so long nobody sweeps.
_SWEEP_LATE_S = 60.0
_OUTBOX_LATE_S = 300.0


@router.get("/healthz", include_in_schema=False, response_class=PlainTextResponse)
def healthz() -> str:
    """Asks nothing else, so that a database that is away has no process killed for it."""
    return "ok\n"


@router.get("/readyz", include_in_schema=False)
def readyz(context: Context) -> Response:
    """503 while the database does not answer. What is late but does not keep this process from answering is in
    `late`: nobody sweeps, nobody delivers, nobody works."""
    try:
        with context.store.reading() as session:
            found = _readiness(_pulse(session, context))
    except SQLAlchemyError as fault:
        _log.warning("not_ready", fault=type(fault).__name__)
        found = Readiness(ready=False, late=("database",))
    return JSONResponse(found.model_dump(mode="json"), 200 if found.ready else 503)


@figures_router.get("/metrics", include_in_schema=False, response_class=PlainTextResponse)
def metrics(request: Request) -> Response:
    """Figures of the record are alike in every replica: take their maximum. Those of requests are this process's."""
    encode, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(request.app.state.figures), media_type=kind)


def read_figures(context: RelayContext) -> tuple[Pulse, Recent]:
    """How the service is now, and how it did of late."""
    with context.store.reading() as session:
        return _pulse(session, context), look_back(session)


def _pulse(session: Session, context: RelayContext) -> Pulse:
    settings = context.settings
    return take_pulse(session, context.now(), lease_seconds=settings.lease_seconds, policy=policy_of(settings))


def _readiness(pulse: Pulse) -> Readiness:
    queue_age_s: dict[str, float] = {}
    for (device, _), age in pulse.queue_age_s.items():
        queue_age_s[device] = max(age, queue_age_s.get(device, 0.0))
    late = {
        "sweep": pulse.sweep_age_s is None or pulse.sweep_age_s > _SWEEP_LATE_S,
        "outbox": (pulse.outbox_age_s or 0.0) > _OUTBOX_LATE_S,
        "workers": bool(queue_age_s.keys() - pulse.heartbeat_age_s.keys()),
    }
    return Readiness(
        ready=True,
        sweep_age_s=pulse.sweep_age_s,
        inbox_age_s=pulse.inbox_age_s,
        outbox_age_s=pulse.outbox_age_s,
        queue_age_s=queue_age_s,
        heartbeat_age_s=dict(pulse.heartbeat_age_s),
        backlog_s={device: backlog.for_each_worker_s for device, backlog in pulse.backlogs.items()},
        deep=tuple(device for device, backlog in pulse.backlogs.items() if backlog.deep),
        late=tuple(name for name, is_late in late.items() if is_late),
    )
