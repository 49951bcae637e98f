"""What a select shard reports: the decisions, the plan and what it costs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from relay.contract.texts import MESSAGE_CAP, WHOLE, Flag, Message, Number, ShortText, TestIdText, TimeoutSeconds
from relay.contract.work import Expected, TestedOn

ShardSeconds = Annotated[Number, Field(ge=0, allow_inf_nan=False)]


class ReasonMessage(Message):
    """One link of a test's reason chain (`selector.types.Reason`)."""

    stage: Annotated[int, Field(ge=1, le=4), WHOLE]
    rule: ShortText
    evidence: str = Field(max_length=2_000)
    score: Number | None = None


#: The rule of the last reason of a test that was left out and runs all the same, by lot.
HOLDOUT_RULE = "holdout"


class Decision(Message):
    """A considered base test: kept or dropped, and why. `file::Class::method`. `seconds` are those of all its variants,
    `probability` (0 to 1) is the estimate that the change breaks its file; both 0 where nothing is known."""

    test: TestIdText
    kept: Flag
    must_run: Flag = False
    reasons: tuple[ReasonMessage, ...]
    seconds: Number = Field(default=0.0, ge=0, allow_inf_nan=False)
    probability: Number = Field(default=0.0, ge=0, le=1)

    @property
    def by_lot(self) -> bool:
        """Whether the test runs although the selection left it out, so that misses are seen."""
        return self.kept and bool(self.reasons) and self.reasons[-1].rule == HOLDOUT_RULE


class FunnelStep(Message):
    """How many entered and left a stage (`selector.types.StageCount`)."""

    stage: Annotated[int, Field(ge=1, le=4), WHOLE]
    name: ShortText
    entered: Annotated[int, Field(ge=0), WHOLE]
    left: Annotated[int, Field(ge=0), WHOLE]
    unit: ShortText
    summary: str = Field(max_length=2_000)


class ChangedFile(Message):
    """A file of the change as stage 1 classified it."""

    path: str = Field(max_length=1_000)
    status: ShortText
    category: ShortText
    symbols: tuple[str, ...] = ()


class PlannedTestMessage(Message):
    """A collected test that will run. `base` names its `Decision`; `op` and `dtype` are empty where the framework did
    not generate the test for one."""

    id: TestIdText
    file: str
    base: TestIdText
    expected: Expected
    rule: ShortText
    provenance: ShortText
    tags: tuple[str, ...] = ()
    isolate: Flag = False
    timeout_s: TimeoutSeconds | None = None
    op: ShortText = ""
    dtype: ShortText = ""


class FilteredTest(Message):
    """A collected test that the manifests keep from running, and the rule that did."""

    id: TestIdText
    base: TestIdText
    rule: ShortText
    provenance: ShortText


class NotTestedReason(StrEnum):
    """Why a run ends without running anything although tests may be affected."""

    NEEDS_BUILD = "needs_build"
    SKEW = "skew"


class NotTested(Message):
    """A run that cannot be answered honestly here, with the sentence that says why."""

    reason: NotTestedReason
    detail: str = Field(max_length=MESSAGE_CAP)


#: The `SelectionReport.state` that says: shown to affect no test. Every other state leaves tests to run, or should.
NOTHING_AFFECTED = "nothing_affected"


class SelectionReport(Message):
    """What a select shard found: the selection, and the plan cut into shards (lists of test ids). `shard_seconds` is
    how long each of them may take, by earlier runs; none where the worker does not say.

    `plan_key` names the inputs of the plan. `expected_seconds` is what the plan takes on one machine, `seconds_saved`
    what it leaves out of everything, `expected_misses` the expected number of failing files that it does not see; all 0
    where nothing is known.
    """

    state: ShortText
    funnel: tuple[FunnelStep, ...]
    changed_files: tuple[ChangedFile, ...]
    decisions: tuple[Decision, ...]
    planned: tuple[PlannedTestMessage, ...] = ()
    filtered: tuple[FilteredTest, ...] = ()
    shards: tuple[tuple[TestIdText, ...], ...] = ()
    shard_seconds: tuple[ShardSeconds, ...] = ()
    notes: tuple[str, ...] = ()
    not_tested: NotTested | None = None
    tested_base_sha: str = ""
    tested_on: TestedOn | None = None
    plan_key: ShortText = ""
    expected_seconds: Number = Field(default=0.0, ge=0, allow_inf_nan=False)
    seconds_saved: Number = Field(default=0.0, ge=0, allow_inf_nan=False)
    expected_misses: Number = Field(default=0.0, ge=0, allow_inf_nan=False)


class SelectionPosted(Message):
    """Body of `POST .../shards/{id}/selection`."""

    lease_id: str
    report: SelectionReport
