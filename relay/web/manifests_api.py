"""The manifests over HTTP, for readers: what is loaded, and what people should know about it."""

from __future__ import annotations

from fastapi import APIRouter

from relay.context import Context, RelayContext
from relay.manifest_report import promotions, report_on
from relay.manifest_views import ManifestsView
from relay.runs.excused import excused_attempts

router = APIRouter(prefix="/api/v1", tags=["read"])


@router.get("/manifests", summary="The manifests in use")
def manifests(context: Context) -> ManifestsView:
    """The manifests in use, findings in their files, excuses by the day they run out, and promotion proposals."""
    return load_manifests_view(context)


def load_manifests_view(context: RelayContext) -> ManifestsView:
    """The view, for the API and for the page. Three queries."""
    settings = context.settings
    in_use = context.manifests.current()
    report = report_on(in_use, settings.manifest_dir, context.now().date())
    with context.store.reading() as session:
        attempts = excused_attempts(session, settings.device)
    return ManifestsView(
        digest=in_use.digest,
        problem=in_use.problem or "",
        manifests=report.manifests,
        blocks=report.blocks,
        findings=report.findings,
        expiring=report.expiring,
        promotions=promotions(in_use, attempts, settings.device),
    )
