"""What readers get of upgrade reports that are on record: the bodies of `/api/v1/upgrades`.

Names, sentences and paths quote upstream, `summaries` a model: all of it is untrusted text.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from relay.upgrade.document import (
    EvidencePart,
    FunnelPart,
    GovernedPart,
    OperatorPart,
    OutcomesPart,
    SummaryPart,
    VariantPart,
)
from relay.views import Page, RunSummary, View
from selector.types import Mode
from selector.upgrade.types import Duty, OpInfoAspect, OutcomeKind, TestChange

#: With the selector's own vocabulary, which readers of views find here.
__all__ = [
    "CauseView",
    "DutyWord",
    "ExecutionAsked",
    "ExecutionView",
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

#: `2.14` or `2.14.1`, or nothing.
RELEASE = r"^(\d{1,4}\.\d{1,4}(\.\d{1,4})?)?$"


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


class ExecutionView(View):
    """The runs of a report's tests on both releases. `outcomes` tells how they differ, some seconds after both have
    ended; the first of them where they are many."""

    base: RunSummary
    head: RunSummary
    outcomes: OutcomesPart | None


class ExecutionAsked(BaseModel):
    """Which tests to run on both releases, by what is to be done about them. A release is the torch that they need
    (`2.14`); left out, it is read off what the report calls the tree."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra={"examples": [{"duties": ["must"], "head_release": "2.14"}]}
    )

    duties: Annotated[tuple[DutyWord, ...], Field(min_length=1, max_length=len(DutyWord))] = (
        DutyWord.MUST,
        DutyWord.SHOULD,
    )
    base_release: Annotated[str, Field(pattern=RELEASE)] = ""
    head_release: Annotated[str, Field(pattern=RELEASE)] = ""


class Published(View):
    """The answer to publishing. `repeated`: the very same report was on record."""

    upgrade: UpgradeSummary
    repeated: bool
