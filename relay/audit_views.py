"""What readers get of audits: runs of every test on the branch, and what the selections in between missed.

Times are ISO 8601 in UTC.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import computed_field

from relay.views import Page, View


class AuditState(StrEnum):
    """An audit's life: its full run, the runs that confirm who missed what, and its end; or its run was called off."""

    RUNNING = "running"
    CONFIRMING = "confirming"
    SETTLED = "settled"
    CALLED_OFF = "called_off"


class AuditOutcome(StrEnum):
    """What became of a test that an audit found newly broken: reported by the run of a change, missed by one, not
    known yet, or of a cause that no single change on record shows."""

    CAUGHT = "caught"
    MISSED = "missed"
    CONFIRMING = "confirming"
    UNEXPLAINED = "unexplained"


class AuditedTest(View):
    """A test that broke between two audits. `asked` changes were asked about it; `missed_by` is the run whose selection
    left it out although its change broke it."""

    test: str
    outcome: AuditOutcome
    asked: int
    missed_by: int | None = None


class AuditView(View):
    """`GET /api/v1/audits/{id}`. The id is that of the audit's run."""

    id: int
    device: str
    base_sha: str
    head_sha: str
    state: AuditState
    created_at: datetime
    finished_at: datetime | None
    tests: tuple[AuditedTest, ...]

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented use; mypy knows no decorated properties
    @property
    def false_green_rate(self) -> float | None:
        """Of the newly broken tests, the share that a selection missed, 0 to 1. None when nothing broke, and before the
        audit is settled. One minus it is the recall of the selections."""
        if self.state is not AuditState.SETTLED or not self.tests:
            return None
        return round(sum(test.outcome is AuditOutcome.MISSED for test in self.tests) / len(self.tests), 4)


class AuditPage(Page):
    """`GET /api/v1/audits`, newest first."""

    audits: tuple[AuditView, ...]
