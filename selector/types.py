"""The values that flow through the four stages. All frozen: a stage hands on new values, it changes none.

Vocabulary: a *base test* is what stands in a source file (`file::Class::method`); PyTorch's device-type framework
generates *collected tests* from it, one per operator, dtype and parameter. Stages 1 to 3 work on base tests, stage 4
decides about collected tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Stage(IntEnum):
    """The four stages, in the order they run."""

    CHANGE = 1
    OWNERSHIP = 2
    TRIAGE = 3
    MANIFESTS = 4


@dataclass(frozen=True, slots=True, order=True)
class BaseTest:
    """A test as written in a source file. `cls` is empty for a module-level test function; without a name it is the
    rest of the file: all tests of it that no other base test describes, such as those made at import time.
    """

    file: str
    cls: str
    name: str

    @property
    def is_rest_of_file(self) -> bool:
        """Whether this stands for the tests of a file that cannot be read off its text."""
        return not self.name

    def __str__(self) -> str:
        return "::".join(part for part in (self.file, self.cls, self.name) if part)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a stage kept or dropped a test: the rule that fired and what it saw."""

    stage: Stage
    rule: str
    evidence: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class WeighedSignal:
    """One thing that speaks for a test: what it adds to the logarithm of the odds, and where that was seen."""

    name: str
    weight: float
    evidence: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A base test on its way through the stages, with its reasons so far, oldest first.

    `must_run` is set by stage 2 and can be removed by nobody but the manifests. `score` (0 to 1) orders the rest.
    `probability` (0 to 1) is the estimate of stages 2 and 3 that the change breaks the test's file, 0 without one;
    `signals` are the strongest that it rests on, the strongest first. `seconds` are those of all its variants, set
    when the plan is made, and `assumed` when none are on record.
    """

    test: BaseTest
    reasons: tuple[Reason, ...] = ()
    must_run: bool = False
    score: float = 0.0
    probability: float = 0.0
    signals: tuple[WeighedSignal, ...] = ()
    seconds: float = 0.0
    assumed: bool = False

    def because(self, reason: Reason) -> Candidate:
        """The same candidate with one more reason; its score becomes the reason's score where there is one."""
        score = self.score if reason.score is None else reason.score
        # Not `replace`, which takes three times as long: every test of a tree gets some reasons.
        return Candidate(
            *(self.test, (*self.reasons, reason), self.must_run, score),
            *(self.probability, self.signals, self.seconds, self.assumed),
        )

    def lasting(self, seconds: float, *, assumed: bool) -> Candidate:
        """The same candidate with its seconds."""
        return Candidate(
            *(self.test, self.reasons, self.must_run, self.score),
            *(self.probability, self.signals, seconds, assumed),
        )


@dataclass(frozen=True, slots=True)
class StageResult:
    """What one stage kept and dropped, and what a reader of the report should know about it."""

    stage: Stage
    kept: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()


class SelectionState(StrEnum):
    """How a selection ended. There are several ways to select no test, and none of them looks like another:
    `nothing_affected` is a proof from the diff; `none_admitted` says that tests are affected and the manifests let none
    of them run; finding none is never an answer, it is `widened` to every test, as every unsafe answer is; and a
    selection that failed is an exception. `full` says that everything was asked for.
    """

    SELECTED = "selected"
    NOTHING_AFFECTED = "nothing_affected"
    NONE_ADMITTED = "none_admitted"
    WIDENED = "widened"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class StageCount:
    """One step of the funnel. Counts are in `unit`; `summary` is a short sentence for people."""

    stage: Stage
    entered: int
    left: int
    unit: str
    summary: str


class Mode(StrEnum):
    """What a manifest expects of a test (torch-spyre's four modes, `oot-manifests.md` 1.5)."""

    MANDATORY_SUCCESS = "mandatory_success"
    XFAIL = "xfail"
    XFAIL_STRICT = "xfail_strict"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class CollectedTest:
    """A generated test as the test framework names it, with what is known about how it was generated.

    `id` is `file::Class::method` with the class suffix normalised to the device (`TestFooSPYRE`), `base` the method
    name in the source file. `op`, `dtype` and `parameters` (name and value as text, in the generator's order) are set
    where the generator told them.
    """

    id: str
    file: str
    cls: str
    base: str
    method: str
    op: str | None = None
    dtype: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def base_test(self) -> BaseTest:
        return BaseTest(self.file, self.cls, self.base)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the manifests say about one collected test.

    `rule` is the vocabulary of `oot-manifests.md` section 8 (`listed`, `unlisted`, `dtype_unsupported`, ...);
    `provenance` is `manifest.yaml:line`. `isolate` asks for a process of the test's own, `timeout_s` (seconds) for
    another limit than the runner's.
    """

    mode: Mode
    rule: str
    provenance: str
    tags: tuple[str, ...] = ()
    isolate: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """A collected test with its expectation. `Mode.SKIP` means: known, and not run."""

    test: CollectedTest
    expectation: Expectation


@dataclass(frozen=True, slots=True)
class Cost:
    """What a plan costs and risks. Seconds are those of the tests, one after the other, on one machine.

    `full_s` is the time of every test that the device may run, `saved_s` what the plan leaves out of it.
    `expected_misses` is the expected number of failing files that the plan does not see; `assumed` counts the planned
    tests whose duration is assumed, because none is on record.
    """

    expected_s: float
    saved_s: float
    full_s: float
    expected_misses: float
    assumed: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer of stages 1 to 3: every considered base test with its chain of reasons, and the funnel so far.

    `key` names the inputs that led here: the same key, the same plan. `cost` is None where stage 1 was enough.
    """

    state: SelectionState
    kept: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]
    funnel: tuple[StageCount, ...]
    notes: tuple[str, ...] = field(default=())
    key: str = ""
    cost: Cost | None = None
