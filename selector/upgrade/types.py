"""What an upgrade of upstream means for a device: the values that the parts of `selector.upgrade` hand on. All frozen.

A *changed test* says what became of one base test between two trees. A *finding* says what a device's team has to do
about it. Counts and duties come from these alone; no model has a say in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from selector.types import BaseTest, Mode


class TestChange(StrEnum):
    """What happened to a test, the strongest first: the first that holds is a test's `change`."""

    __test__ = False  # nothing for pytest to collect, whatever it is called

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"
    BODY = "body"
    DECORATORS = "decorators"
    HELPER = "helper"
    CODE = "code"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Lines of a file, first and last, from 1. `line` 0: the file as a whole."""

    path: str
    line: int = 0
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that speaks for a change: what changed (`symbol`), how, and where in each tree. A hop by hop `chain`
    leads from the test to a helper or to code that it does not name itself."""

    kind: TestChange
    symbol: str
    text: str
    base: Place | None = None
    head: Place | None = None
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """A base test and what became of it. `test` is its name in the newer tree, in the older for a removed one;
    `former` its name in the older, where it has another. `changes` are all that hold, the strongest first: a moved test
    may have another body too. `confidence` (0 to 1) is that of a move or rename, 1 for what needs no guess."""

    test: BaseTest
    changes: tuple[TestChange, ...]
    evidence: tuple[Evidence, ...] = ()
    former: BaseTest | None = None
    confidence: float = 1.0

    @property
    def change(self) -> TestChange:
        """The strongest."""
        return self.changes[0]


@dataclass(frozen=True, slots=True)
class TestDifference:
    """Every test of both trees, sorted by file, class and name, and what could not be read on the way."""

    __test__ = False

    tests: tuple[ChangedTest, ...]
    files_before: int
    files_after: int
    notes: tuple[str, ...] = ()

    def count(self, change: TestChange) -> int:
        """Tests whose strongest change it is."""
        return sum(test.change is change for test in self.tests)


class OpInfoAspect(StrEnum):
    """What differs of an operator's entry in upstream's database. `ELSEWHERE`: dtypes or decorators that name other
    devices, upstream's own; an entry that differs in nothing else is as it was for every other device."""

    DTYPES = "dtypes"
    DECORATORS = "decorators"
    SAMPLES = "sample inputs"
    OTHER = "other"
    ELSEWHERE = "other devices only"


@dataclass(frozen=True, slots=True)
class OpInfoChange:
    """One entry, named as tests name it: `name` and, joined by a dot, its variant. `change` is ADDED, REMOVED or BODY;
    the dtypes are those of its variants for a device that is none of upstream's own."""

    name: str
    change: TestChange
    aspects: tuple[OpInfoAspect, ...] = ()
    dtypes_before: frozenset[str] = frozenset()
    dtypes_after: frozenset[str] = frozenset()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class OpInfoDifference:
    """All entries that differ, sorted by name; entries before and after; what could not be read off the text."""

    changes: tuple[OpInfoChange, ...]
    before: int
    after: int
    notes: tuple[str, ...] = ()


class Duty(StrEnum):
    """What the device's team has to do about a test, the most pressing first."""

    MUST = "must assess"
    SHOULD = "should assess"
    NEW = "new and ungoverned"
    NOTHING = "nothing to do"


@dataclass(frozen=True, slots=True)
class Governed:
    """What the manifests say about a base test: the entry (`manifest.yaml:line`), the mode it asks for, and how many
    variants of the test it governs on the device before and after (`None`: not to be told from the text)."""

    provenance: str
    mode: Mode
    variants_before: int | None = None
    variants_after: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One test, its duty and why. `suggested` is the mode proposed for a test that no entry governs. `cause` names what
    several findings have in common (a helper, an operator, a moved class): one look settles them together."""

    changed: ChangedTest
    duty: Duty
    reason: str
    governed: tuple[Governed, ...] = ()
    suggested: Mode | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """How many are left after a step; `unit` is what is counted ("variants", "tests", "causes")."""

    name: str
    left: int
    unit: str
    summary: str


@dataclass(frozen=True, slots=True)
class NewVariant:
    """Generated tests that will appear for the device: of which test, for which operator and dtypes, and the entry
    that will govern them."""

    test: BaseTest
    op: str
    dtypes: tuple[str, ...]
    governed: Governed | None = None


@dataclass(frozen=True, slots=True)
class AreaSummary:
    """A paragraph by a model about one area of the change. Shown as a model's words; nothing is counted by it."""

    area: str
    text: str
    model: str


class OutcomeKind(StrEnum):
    """What an upgrade did to one collected test that ran on both releases, the most pressing first."""

    BROKEN = "broken by upgrade"
    MEANING = "test changed meaning"
    FLAKY = "flaky"
    FIXED = "fixed by upgrade"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class UpgradeOutcome:
    """A collected test, by its id on the newer release, and how it ended on both. `former` is its id on the older one
    where that is another. `detail` is what the test printed when it failed: untrusted text."""

    id: str
    test: BaseTest
    kind: OutcomeKind
    before: str
    after: str
    reason: str
    former: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeDifference:
    """How the results of two releases differ: every test that did not end the same, the most pressing first, and how
    many ended the same, or ran on one of them alone."""

    outcomes: tuple[UpgradeOutcome, ...] = ()
    same: int = 0
    only_before: int = 0
    only_after: int = 0
    notes: tuple[str, ...] = ()

    def count(self, kind: OutcomeKind) -> int:
        return self.same if kind is OutcomeKind.SAME else sum(it.kind is kind for it in self.outcomes)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where people can read both trees: a repository on the web, and the commits in it. All empty for folders."""

    repository: str = ""
    base_commit: str = ""
    head_commit: str = ""


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """All that is said about an upgrade. `base` and `head` name the trees as people do ("2.13.0", a revision). Every
    finding is about a test of the difference."""

    base: str
    head: str
    device: str
    difference: TestDifference
    operators: OpInfoDifference
    findings: tuple[Finding, ...]
    funnel: tuple[FunnelStep, ...]
    variants: tuple[NewVariant, ...] = ()
    notes: tuple[str, ...] = ()
    summaries: tuple[AreaSummary, ...] = ()
    outcomes: OutcomeDifference | None = None
    origin: Origin = Origin()
    seconds: float = field(default=0.0, compare=False)
