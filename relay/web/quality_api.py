"""The quality of selections over HTTP. Reads only."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.context import Context
from relay.quality_views import QualityView
from relay.runs.quality import quality

router = APIRouter(prefix="/api/v1", tags=["audits"])

#: Further back no figure says much about the selections of today.
MOST_DAYS = 365


@router.get("/quality", summary="How good the selections are")
def selection_quality(
    context: Context,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS, description="How far back")] = 90,
    device: Annotated[str, Query(max_length=100, description="The service's own device if left out")] = "",
) -> QualityView:
    """Recall and false-green rate by audits, misses by lot, and what the selections of each day left out."""
    known = device.replace("\0", "\N{REPLACEMENT CHARACTER}") or context.settings.device
    with context.store.reading() as session:
        return quality(session, known, context.now(), days=days)
