"""What readers get about the quality of selections (`GET /api/v1/quality`): what audits and the lot say of them, and
what they save.

Every rate comes with the counts it was made of. Seconds are those of tests on one machine.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import computed_field

from relay.views import View


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


class AuditFigures(View):
    """A settled audit in numbers. Of the newly `broken` tests, changes `caught` some by their own runs, selections
    `missed` some, and of the rest no single change is known."""

    id: int
    at: datetime
    broken: int
    caught: int
    missed: int

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented use; mypy knows no decorated properties
    @property
    def unexplained(self) -> int:
        """Newly broken tests of which no single change is known to be the cause."""
        return self.broken - self.caught - self.missed

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented use; mypy knows no decorated properties
    @property
    def recall(self) -> float | None:
        """Caught of caught and missed, 0 to 1; None where nothing was either."""
        return _share(self.caught, self.caught + self.missed)

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented use; mypy knows no decorated properties
    @property
    def false_green_rate(self) -> float | None:
        """Missed of newly broken, 0 to 1; None when nothing broke."""
        return _share(self.missed, self.broken)


class DayFigures(View):
    """The selections of one day (UTC): how many, how many of the considered base tests they kept and left out, and the
    seconds of what they planned and of what they left out."""

    day: str
    selections: int
    kept: int
    dropped: int
    expected_seconds: float
    seconds_saved: float

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented use; mypy knows no decorated properties
    @property
    def reduction(self) -> float | None:
        """The share of everything's seconds that was left out, 0 to 1; None where no durations are known."""
        return _share(self.seconds_saved, self.expected_seconds + self.seconds_saved)


class LotFigures(View):
    """Tests that were left out and ran all the same, by lot: how many were drawn, and how many of them the change had
    broken unseen."""

    drawn: int
    missed: int

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented use; mypy knows no decorated properties
    @property
    def miss_rate(self) -> float | None:
        """Missed of drawn, 0 to 1; None when nothing was drawn."""
        return _share(self.missed, self.drawn)


class QualityView(View):
    """The figures of a device over the last `days`; audits and days oldest first."""

    device: str
    days: int
    audits: tuple[AuditFigures, ...]
    selections: tuple[DayFigures, ...]
    lot: LotFigures
