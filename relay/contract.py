"""The messages between the relay and its workers: the worker API's bodies, and nothing else.

Workers import this module and no other part of the relay, so it must stay free of the database, the queue and the
selector. Every text that comes from upstream or from a model is untrusted; the length caps here are the caps of the
record.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

#: Celery task name and queue of the wake-up message. The message carries no work: the worker leases it over HTTP.
WAKE_TASK = "relay.wake"

MESSAGE_CAP = 8_000
SHORT_CAP = 500
MANIFEST_PROBLEM_CAP = 2_000

ShortText = Annotated[str, Field(max_length=SHORT_CAP)]
_ID_CAP = 1_000
# PostgreSQL's index entries end near 2,700 bytes, and 1,000 characters can be longer than that in UTF-8.
_ID_BYTES = 2_000
TestIdText = Annotated[str, Field(min_length=1, max_length=_ID_CAP)]
#: How long one test may take, by the wish of its manifest entry.
TimeoutSeconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
OPERATORS_CAP = 500
OPERATOR_CAP = 200
OperatorName = Annotated[str, Field(min_length=1, max_length=OPERATOR_CAP)]


def can_be_recorded(test_id: str) -> bool:
    """Whether the record takes a test id. Upstream makes ids of parameters, which can be any text of any length."""
    try:
        size = len(test_id.encode())
    except UnicodeEncodeError:
        return False
    return 0 < len(test_id) <= _ID_CAP and size <= _ID_BYTES and "\0" not in test_id


def queue_name(device: str) -> str:
    """The Celery queue that wakes the workers of one device kind."""
    return f"device.{device}"


@dataclass(frozen=True, slots=True)
class BrokerConnection:
    """A broker URL in the form Celery takes it. `folder` is set for the file-system broker, which both sides create."""

    url: str
    transport_options: dict[str, str]
    folder: Path | None = None


def broker_connection(url: str) -> BrokerConnection:
    """Read a `RELAY_BROKER_URL`. `filesystem:///var/relay/broker` names the folder in the URL, because kombu's own
    `filesystem://` takes it from transport options that two programs would have to agree on separately.
    """
    if not url.startswith("filesystem://"):
        return BrokerConnection(url, {})
    folder = Path(url.removeprefix("filesystem://"))
    messages, control = str(folder / "messages"), str(folder / "control")
    options = {"data_folder_in": messages, "data_folder_out": messages, "control_folder": control}
    return BrokerConnection("filesystem://", options, folder)


class Message(BaseModel):
    """Frozen, and strict about keys: a misspelt field between two of our own programs is a bug, not an extension."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ShardKind(StrEnum):
    """A run's first shard selects and plans; the shards it yields run tests."""

    SELECT = "select"
    TEST = "test"


class Expected(StrEnum):
    """The manifest modes that lead to a run (`oot-manifests.md` 1.5); `skip` never reaches a worker."""

    MANDATORY_SUCCESS = "mandatory_success"
    XFAIL = "xfail"
    XFAIL_STRICT = "xfail_strict"


class Tree(StrEnum):
    """Which side of the change a test attempt ran on."""

    HEAD = "head"
    BASE = "base"


class Observation(StrEnum):
    """What was seen of one attempt at one test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    MISSING = "missing"


class Change(Message):
    """The upstream change under test. `title` and `body` are untrusted text; the clone URL is the relay's setting.

    `fetch_ref` is a ref that is known to contain `head_sha` (`refs/pull/7/head`), empty when the SHA itself is fetched.
    `base_sha` is the tip of the base branch; the tested base is the merge base of both.
    """

    repo: str
    clone_url: str
    fetch_ref: str = ""
    base_sha: str = Field(pattern=r"^[0-9a-f]{40}$")
    head_sha: str = Field(pattern=r"^[0-9a-f]{40}$")
    pr_number: int | None = None
    title: str = ""
    body: str = ""


class ManifestText(Message):
    """One manifest as the relay holds it: a name for provenance, and its YAML."""

    name: str
    text: str


class TriageBudget(Message):
    """What one consultation of the model may cost. `calls` are look-ups, in at most `rounds` turns; `tokens` of both
    directions, `answer_tokens` of one answer; `wall_s` in seconds; `money` in US dollars at `price_in` and `price_out`
    for a million tokens, where 0 means free."""

    calls: int = Field(default=8, ge=0, le=8)
    rounds: int = Field(default=3, ge=0, le=3)
    tokens: int = Field(default=200_000, ge=1)
    answer_tokens: int = Field(default=8_000, ge=1)
    wall_s: float = Field(default=120.0, gt=0)
    money: float = Field(default=0.05, ge=0)
    price_in: float = Field(default=0.0, ge=0)
    price_out: float = Field(default=0.0, ge=0)


class TriageSettings(Message):
    """How stage 3 may ask a model. Calls go through the relay, authorised by the worker token, so that no model key is
    on a worker: `POST /api/v1/worker/triage/chat/completions` for the provider `openai`, `.../triage/messages` for
    `anthropic`. A `recorded` model is played back from the worker's own transcript."""

    model: str
    timeout_s: float
    provider: Literal["openai", "anthropic", "recorded"] = "openai"
    budget: TriageBudget = TriageBudget()


class SelectOrder(Message):
    """Work of a select shard. `only` limits the plan to these test ids (a rerun of failed tests). `manifest_problem`
    says why the manifests are not those that maintainers see now; the run's notes repeat it. `full` says why every test
    is to run, empty when that was not asked for; it beats `budget_s` (seconds) and `holdout`, the share (0 to 1) of
    what is left out that runs nevertheless (`selector.cut.Cut`)."""

    manifests: tuple[ManifestText, ...]
    manifest_problem: str = Field(default="", max_length=MANIFEST_PROBLEM_CAP)
    triage: TriageSettings | None = None
    only: tuple[TestIdText, ...] = ()
    full: ShortText = ""
    budget_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    holdout: float = Field(default=0.0, ge=0, le=1)
    shard_size: int = Field(default=200, ge=1)


class TestOrder(Message):
    """One planned test a worker has to run. `file` is relative to the upstream tree. `isolate` asks for a process of
    its own, `timeout_s` (seconds) replaces the worker's own limit of a test."""

    __test__ = False
    id: TestIdText
    file: str
    expected: Expected
    isolate: bool = False
    timeout_s: TimeoutSeconds | None = None


class TestedOn(Message):
    """The environment that answers for a run: its name, the torch and Python in it, the profile of the device, and how
    test processes are confined (`bubblewrap`, or `none` with the reason)."""

    __test__ = False
    name: ShortText
    torch_version: ShortText
    torch_git_sha: ShortText = ""
    python_version: ShortText = ""
    device_profile: ShortText = ""
    sandbox: ShortText = ""

    @property
    def unconfined(self) -> bool:
        """Whether it is known that test processes were not confined as they should be."""
        return bool(self.sandbox) and self.sandbox.split()[0].rstrip(":,;") != "bubblewrap"


class Lease(Message):
    """The right to work on one shard for `expires_in_s` seconds, renewed by heartbeats. `tested_on` is the environment
    that the run was planned on, for the shards that run its tests."""

    lease_id: str
    shard_id: int
    run_id: int
    kind: ShardKind
    attempt: int
    expires_in_s: float
    change: Change
    select: SelectOrder | None = None
    tests: tuple[TestOrder, ...] = ()
    tested_on: TestedOn | None = None


class LeaseRequest(Message):
    """A worker asks for the next due shard of its device. Answered 200 with a `Lease`, or 204 when nothing is due."""

    worker: ShortText
    device: ShortText


class Heartbeat(Message):
    """Keeps a lease alive; `progress` is a short word for the page (`collecting test/test_x.py`)."""

    lease_id: str
    progress: ShortText = ""


class HeartbeatReply(Message):
    """`cancelled`: stop at the next test boundary, nothing more is wanted of this shard."""

    cancelled: bool


class ReasonMessage(Message):
    """One link of a test's reason chain (`selector.types.Reason`)."""

    stage: int = Field(ge=1, le=4)
    rule: ShortText
    evidence: str = Field(max_length=2_000)
    score: float | None = None


#: The rule of the last reason of a test that was left out and runs all the same, by lot.
HOLDOUT_RULE = "holdout"


class Decision(Message):
    """A considered base test: kept or dropped, and why. `file::Class::method`. `seconds` are those of all its variants,
    `probability` (0 to 1) is the estimate that the change breaks its file; both 0 where nothing is known."""

    test: TestIdText
    kept: bool
    must_run: bool = False
    reasons: tuple[ReasonMessage, ...]
    seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    probability: float = Field(default=0.0, ge=0, le=1)

    @property
    def by_lot(self) -> bool:
        """Whether the test runs although the selection left it out, so that misses are seen."""
        return self.kept and bool(self.reasons) and self.reasons[-1].rule == HOLDOUT_RULE


class FunnelStep(Message):
    """How many entered and left a stage (`selector.types.StageCount`)."""

    stage: int = Field(ge=1, le=4)
    name: ShortText
    entered: int = Field(ge=0)
    left: int = Field(ge=0)
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
    isolate: bool = False
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
    """What a select shard found: the selection, and the plan cut into shards (lists of test ids).

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
    notes: tuple[str, ...] = ()
    not_tested: NotTested | None = None
    tested_base_sha: str = ""
    tested_on: TestedOn | None = None
    plan_key: ShortText = ""
    expected_seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    seconds_saved: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    expected_misses: float = Field(default=0.0, ge=0, allow_inf_nan=False)


class SelectionPosted(Message):
    """Body of `POST .../shards/{id}/selection`."""

    lease_id: str
    report: SelectionReport


class Attempt(Message):
    """One try at one test. `detail` is the failing assertion, skip reason or last words; untrusted and capped.
    `reused`: not run now, but known from an earlier run of the very same base (tree, torch, device profile)."""

    tree: Tree
    number: int = Field(ge=1, le=1_000_000)
    observation: Observation
    duration_s: float = Field(ge=0, allow_inf_nan=False)
    detail: str = Field(default="", max_length=MESSAGE_CAP)
    reused: bool = False


class TestResult(Message):
    """All attempts at one planned test, sent once, when the worker is done with it. `operators` are those that the
    device saw during the last attempt on head (`aten::add.Tensor`), a claim of the process that ran the test."""

    __test__ = False
    id: TestIdText
    attempts: tuple[Attempt, ...] = Field(min_length=1)
    operators: tuple[OperatorName, ...] = Field(default=(), max_length=OPERATORS_CAP)


class ResultsPosted(Message):
    """Body of `POST .../shards/{id}/results`. `sequence` counts from 1 in a lease; repeats are answered alike."""

    lease_id: str
    sequence: int = Field(ge=1, le=1_000_000)
    results: tuple[TestResult, ...]


class ShardOutcome(StrEnum):
    """How a worker ends a lease. `failed` makes the shard due again, up to the attempt limit."""

    DONE = "done"
    FAILED = "failed"


class ShardFinished(Message):
    """Body of `POST .../shards/{id}/finish`. `error` says what went wrong on our side, for `failed`."""

    lease_id: str
    outcome: ShardOutcome
    error: str = Field(default="", max_length=MESSAGE_CAP)


class OperatorsAsked(Message):
    """Body of `POST /api/v1/worker/operators`: which tests were seen to use these operators on the device?"""

    device: ShortText
    operators: tuple[OperatorName, ...] = Field(max_length=OPERATORS_CAP)


class OperatorUses(Message):
    """An operator without overload (`aten::add`), and the base tests that used it. `tests` is empty where `total` is
    too large to be told: what everything uses says nothing about a change."""

    operator: OperatorName
    tests: tuple[str, ...]
    total: int = Field(ge=0)


class ObservedOperators(Message):
    """The answer: the operators asked for that were seen at all, rarest first."""

    operators: tuple[OperatorUses, ...]


PAST_FILES_CAP = 5_000
PAST_PATHS_CAP = 1_000
_Path = Annotated[str, Field(max_length=_ID_CAP)]


class PastAsked(Message):
    """Body of `POST /api/v1/worker/past`: how long did the tests of these files take on the device, and how did tests
    end when these paths changed, or in the last run of this pull request (of another version than `head_sha`)?"""

    device: ShortText
    files: tuple[_Path, ...] = Field(default=(), max_length=PAST_FILES_CAP)
    paths: tuple[_Path, ...] = Field(default=(), max_length=PAST_PATHS_CAP)
    repo: str = Field(default="", max_length=200, pattern=r"^[^\x00]*$")
    pr_number: int | None = Field(default=None, ge=0, lt=2**31)
    head_sha: str = Field(default="", pattern=r"^([0-9a-f]{40})?$")


class TestSeconds(Message):
    """The seconds of a base test, summed over its variants."""

    __test__ = False
    file: str
    test: str
    seconds: float = Field(ge=0, allow_inf_nan=False)


class FailedLast(Message):
    """A base test that an earlier version of the pull request broke, and a sentence that says when."""

    test: str
    evidence: str


class BrokenWith(Message):
    """A base test that changes of `path` broke; `strength` is the sum over those changes of 1/(files changed)."""

    path: str
    test: str
    strength: float = Field(gt=0, allow_inf_nan=False)


class MissedWith(Message):
    """A base test that a selection once left out although a change of `path` broke it, and when that was."""

    path: str
    test: str
    evidence: str


class Past(Message):
    """The answer, each in order: the tests that passed in one of the last runs, and those that failed."""

    durations: tuple[TestSeconds, ...] = ()
    failed_last: tuple[FailedLast, ...] = ()
    failed_with: tuple[BrokenWith, ...] = ()
    missed_with: tuple[MissedWith, ...] = ()


class Accepted(Message):
    """The worker API's plain yes."""

    ok: bool = True
