"""What a run leaves behind as files, as far as that is no list of its own. All of it quotes upstream, untrusted."""

from __future__ import annotations

from relay.contract import ChangedFile, Decision, FilteredTest, FunnelStep
from relay.views import PlanView, RunSummary, View


class SelectionDocument(View):
    """`GET /api/v1/runs/{id}/selection.json`: all that the selection considered, kept and left out."""

    run: RunSummary
    selection_state: str | None
    plan: PlanView | None
    notes: tuple[str, ...]
    changed_files: tuple[ChangedFile, ...]
    funnel: tuple[FunnelStep, ...]
    decisions: tuple[Decision, ...]
    filtered: tuple[FilteredTest, ...]
