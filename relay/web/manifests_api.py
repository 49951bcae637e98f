"""The manifests over HTTP, for readers: what is loaded, and what people should know about it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.context import Context, RelayContext
from relay.manifest_report import promotions, report_on
from relay.manifest_views import ManifestsView
from relay.runs.excused import excused_attempts
from relay.served import ServedBackend, not_served
from relay.web.refusals import refuses

router = APIRouter(prefix="/api/v1", tags=["read"])


@router.get("/manifests", summary="The manifests in use", responses=refuses(not_served("basalt", ("spyre", "quartz"))))
def manifests(
    context: Context,
    device: Annotated[
        str, Query(max_length=100, description="Those of this device; of the one that is shown first if left out")
    ] = "",
) -> ManifestsView:
    """The manifests in use, findings in their files, excuses by the day they run out, and promotion proposals."""
    backend = context.backend_of(device) if device else context.backends[0]
    if backend is None:
        raise not_served(device, context.devices)
    return load_manifests_view(context, backend)


def load_manifests_view(context: RelayContext, backend: ServedBackend) -> ManifestsView:
    """The view, for the API and for the page. Three queries."""
    in_use = backend.manifests.current()
    report = report_on(in_use, backend.manifest_dir, context.now().date())
    with context.store.reading() as session:
        attempts = excused_attempts(session, backend.device)
    return ManifestsView(
        device=backend.device,
        digest=in_use.digest,
        problem=in_use.problem or "",
        manifests=report.manifests,
        blocks=report.blocks,
        findings=report.findings,
        expiring=report.expiring,
        promotions=promotions(in_use, attempts, backend.device),
    )
