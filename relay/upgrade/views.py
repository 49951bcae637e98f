"""What readers get of upgrade reports that are on record: the bodies of `/api/v1/upgrades`.

Names, sentences and paths quote upstream, `summaries` a model: all of it is untrusted text.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from relay.upgrade.document import (
    EvidencePart,
    FunnelPart,
    GovernedPart,
    OperatorPart,
    OutcomesPart,
    SummaryPart,
    VariantPart,
)
from relay.views import Page, View
from selector.types import Mode
from selector.upgrade.types import Duty, OpInfoAspect, OutcomeKind, TestChange

#: With the selector's own vocabulary, which readers of views find here.
__all__ = [
    "CauseView",
    "DutyWord",
    "Mode",
    "OpInfoAspect",
    "OperatorsView",
    "OutcomeKind",
    "Published",
    "TestChange",
    "UpgradePage",
    "UpgradeSummary",
    "UpgradeTestPage",
    "UpgradeTestView",
    "UpgradeView",
]


class DutyWord(StrEnum):
    """What is to be done about a test, in one word for addresses; the most pressing first."""

    MUST = "must"
    SHOULD = "should"
    NEW = "new"
    NOTHING = "nothing"

    @classmethod
    def of(cls, duty: Duty) -> DutyWord:
        """The word of a duty."""
        return cls[duty.name]


class UpgradeSummary(View):
    """A report as a line of the list. `base` and `head` name the trees as people do; `duties` counts all tests by what
    they ask for, `changes` by what became of them. The runs are those that executed it, null before that."""

    id: int
    base: str
    head: str
    device: str
    repository: str
    base_commit: str
    head_commit: str
    duties: dict[DutyWord, int]
    changes: dict[TestChange, int]
    published_by: str
    published_at: datetime
    base_run_id: int | None
    head_run_id: int | None
    url: str


class UpgradePage(Page):
    """Some reports, the newest first."""

    upgrades: tuple[UpgradeSummary, ...]


class OperatorsView(View):
    """The entries of upstream's operator database before and after; `total` differ, and `changes` has the first of
    them."""

    before: int
    after: int
    total: int
    changes: tuple[OperatorPart, ...]
    notes: tuple[str, ...]


class UpgradeView(View):
    """A report without its tests, which are a list of their own. `evidence` is what `operators` name by number;
    `outcomes` are there where the report was made with results of both releases. Of long lists the first are here."""

    upgrade: UpgradeSummary
    funnel: tuple[FunnelPart, ...]
    operators: OperatorsView
    evidence: tuple[EvidencePart, ...]
    variants: tuple[VariantPart, ...]
    variants_total: int
    summaries: tuple[SummaryPart, ...]
    outcomes: OutcomesPart | None
    notes: tuple[str, ...]
    files_before: int
    files_after: int
    seconds: float


class UpgradeTestView(View):
    """A test that changed or asks for something: `file::Class::method`, what became of it (the strongest first), what
    is to be done and why. `former` is its name on the older release where that is another; `confidence` (0 to 1) is
    that of a move or rename."""

    test: str
    file: str
    changes: tuple[TestChange, ...]
    duty: DutyWord
    reason: str
    cause: str
    former: str
    confidence: float
    suggested: Mode | None
    governed: tuple[GovernedPart, ...]
    evidence: tuple[EvidencePart, ...]


class CauseView(View):
    """What several tests have in common: one look settles them together. Of tests that nothing joins it is the file."""

    cause: str
    tests: int


class UpgradeTestPage(Page):
    """Some tests of a report in its order. `total` counts those that match, `causes` are theirs, the largest first."""

    tests: tuple[UpgradeTestView, ...]
    total: int
    causes: tuple[CauseView, ...]


class Published(View):
    """The answer to publishing. `repeated`: the very same report was on record."""

    upgrade: UpgradeSummary
    repeated: bool
