"""What readers get: the bodies of the read API under `/api/v1`, shared by the dashboard pages and the CLI.

Times are ISO 8601 in UTC, durations are seconds. Everything that quotes upstream is untrusted text.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, computed_field

from relay.contract import (
    Attempt,
    ChangedFile,
    Decision,
    Expected,
    FilteredTest,
    FunnelStep,
    NotTested,
    Observation,
    TestedOn,
)


class View(BaseModel):
    """Frozen read model."""

    model_config = ConfigDict(frozen=True)


class Page(View):
    """A part of a list. `next` is the address of the next part, with the filters of this one; None at the end."""

    next: str | None = None


class RunState(StrEnum):
    """A run's life (README, "A run's life"). The last three are final."""

    RECEIVED = "received"
    SELECTING = "selecting"
    PLANNED = "planned"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Conclusion(StrEnum):
    """What a finished run says about the change."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"


class Verdict(StrEnum):
    """Expectation x observation, compared with the base commit."""

    OK = "ok"
    REGRESSION = "regression"
    KNOWN_FAILURE = "known_failure"
    FIXED = "fixed"
    XPASS = "xpass"
    FLAKY = "flaky"
    CRASH = "crash"
    TIMEOUT = "timeout"
    MISSING = "missing"
    INFRA = "infra"
    UNSUPPORTED = "unsupported"


class RunSummary(View):
    """A run as a line of the list. `full` says why every test runs, empty where a selection was made."""

    id: int
    repo: str
    pr_number: int | None
    title: str
    base_sha: str
    head_sha: str
    device: str
    trigger: str
    attempt: int
    rerun_of: int | None
    state: RunState
    conclusion: Conclusion | None
    headline: str
    planned: int
    reported: int
    verdicts: dict[Verdict, int]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    url: str
    full: str = ""


class TestView(View):
    """A planned test with what came of it. `isolate` and `timeout_s` (seconds) are its manifest entry's wishes;
    `op` and `dtype` what it was generated for, where that is known. `by_lot`: the selection had left it out; `missed`:
    it was by lot, and the change broke it."""

    __test__ = False
    id: str
    file: str
    base: str
    expected: Expected
    rule: str
    provenance: str
    tags: tuple[str, ...]
    shard_id: int
    verdict: Verdict | None
    observation: Observation | None
    duration_s: float | None
    detail: str
    attempts: tuple[Attempt, ...]
    isolate: bool = False
    timeout_s: float | None = None
    op: str = ""
    dtype: str = ""
    by_lot: bool = False
    missed: bool = False


class ShardView(View):
    """A shard as the page shows it. `sandbox` is the weakest that held its tests, of worker `sandbox_of`; empty where
    it did not say. `expected_s` is how long its tests may take, 0 where nothing is known; `took_s` how
    long its leases took that have ended."""

    id: int
    kind: str
    state: str
    attempt: int
    worker: str
    progress: str
    tests: int
    reported: int
    error: str
    sandbox: str = ""
    sandbox_of: str = ""
    expected_s: float = 0.0
    took_s: float = 0.0


class WeakSandbox(View):
    """A worker that worked on a run without a whole sandbox: on how many shards of it, and what it said it lacked.
    Where only the run's environment tells, `worker` is empty and `shards` 0."""

    worker: str
    shards: int
    sandbox: str


class PlanView(View):
    """What a plan costs and risks (`relay.contract.SelectionReport`). Seconds are those of tests on one machine."""

    key: str
    expected_seconds: float
    seconds_saved: float
    expected_misses: float


class Balance(View):
    """How evenly the shards with tests share a run's work: the longest over the mean, 1 when all are alike. `expected`
    of the plan, `measured` once all are done; None where that is not known."""

    shards: int
    expected: float | None
    measured: float | None


class RunDetail(View):
    """Everything about a run but its tests and its decisions, which have lists of their own. `missed` are the base
    tests that the selection had left out although the change broke them; they ran by lot. `balance` is None for a run
    with less than two shards of tests."""

    run: RunSummary
    selection_state: str | None
    funnel: tuple[FunnelStep, ...]
    changed_files: tuple[ChangedFile, ...]
    notes: tuple[str, ...]
    not_tested: NotTested | None
    shards: tuple[ShardView, ...]
    kept: int
    dropped: int
    filtered: int
    tested_on: TestedOn | None = None
    plan: PlanView | None = None
    missed: tuple[str, ...] = ()
    balance: Balance | None = None
    weak_sandboxes: tuple[WeakSandbox, ...] = ()


class RunPage(Page):
    """`GET /api/v1/runs`, newest first. `next_before` is the id of the last run where there are older ones."""

    runs: tuple[RunSummary, ...]
    next_before: int | None


class TestPage(Page):
    """`GET /api/v1/runs/{id}/tests`."""

    __test__ = False
    tests: tuple[TestView, ...]
    total: int


class FlakeRate(View):
    """`GET /api/v1/flakes`: what is on record of one test on one device. `disagreements` of `commits` (a commit in one
    environment counts once) saw the test both fine and not; the rate is their share, 0 to 1."""

    test: str
    device: str
    runs: int
    attempts: int
    commits: int
    disagreements: int

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented use; mypy knows no decorated properties
    @property
    def rate(self) -> float | None:
        """None when the test was never seen."""
        return round(self.disagreements / self.commits, 4) if self.commits else None


class TestOutcome(View):
    """What one run found out about a test. `on_branch` is what that says of the branch without the run's change: fine,
    failing, or None where it says nothing. `seconds` are those of the last attempt."""

    __test__ = False
    run_id: int
    at: datetime
    repo: str
    pr_number: int | None
    title: str
    head_sha: str
    base_sha: str
    trigger: str
    expected: Expected
    verdict: Verdict | None
    observation: Observation | None
    seconds: float | None
    on_branch: bool | None

    @property
    def branch_sha(self) -> str:
        """The commit of the branch that `on_branch` is about: of a pull request's run that is its base."""
        return self.head_sha if self.pr_number is None else self.base_sha


class BranchFailure(View):
    """Since when a test fails on the branch. `first_bad` is the oldest outcome without a fine one since; `last_good`
    the newest fine one before it, None when no run that was looked at has one. `outcomes` of them tell of a failure."""

    first_bad: TestOutcome
    last_good: TestOutcome | None
    outcomes: int


class TestHistory(Page):
    """`GET /api/v1/tests/history`, newest run first. `next_before` is the run id to pass as `before` for older ones.
    `failing` and `flakes` are about the newest runs, whatever page is asked for; `failing` is None when the newest run
    that tells says the test is fine on the branch, or none tells."""

    __test__ = False
    test: str
    device: str
    outcomes: tuple[TestOutcome, ...]
    next_before: int | None
    failing: BranchFailure | None
    flakes: FlakeRate


class SubmissionView(View):
    """`POST /api/v1/dispatches`: what a dispatch of another relay led to. `run` is None when there is nothing to test,
    and `note` then says why. `repeated`: it had been submitted before."""

    delivery_id: str
    repeated: bool
    note: str
    run: RunSummary | None


class DecisionPage(Page):
    """`GET /api/v1/runs/{id}/decisions`: considered base tests with their reason chains."""

    decisions: tuple[Decision, ...]
    filtered: tuple[FilteredTest, ...]
    total: int


class RunEvent(View):
    """One line of a run's history: the data of its server-sent events. `id` grows over the whole service."""

    id: int
    run_id: int
    at: datetime
    kind: str
    text: str


class RunHistory(Page):
    """`GET /api/v1/runs/{id}/history`: events of a run as they are on record, oldest first. `next_after` is the id to
    pass as `after` for more, None at the end of what there is; `over` says that nothing more will come."""

    events: tuple[RunEvent, ...]
    next_after: int | None
    over: bool


class Health(View):
    """`GET /api/v1/health`. `devices` are all that are served, the usual one first. `manifest_problem` says why
    manifests in use are not those in their folder; empty when they are."""

    status: str
    database: str
    device: str
    devices: tuple[str, ...] = ()
    manifest_problem: str


class Readiness(View):
    """`GET /readyz`. Ages are seconds; null where nothing waits, or nothing ever happened. `late` names what is behind
    without keeping this process from answering, or what keeps it. `backlog_s` is how much people wait for, for each
    worker of a device, `deep` the devices where that is back-pressure."""

    ready: bool
    late: tuple[str, ...] = ()
    sweep_age_s: float | None = None
    inbox_age_s: float | None = None
    outbox_age_s: float | None = None
    queue_age_s: dict[str, float] = {}
    heartbeat_age_s: dict[str, float] = {}
    backlog_s: dict[str, float] = {}
    deep: tuple[str, ...] = ()


class Version(View):
    """`GET /api/v1/version`."""

    name: str
    version: str


class ApiError(View):
    """Every error body of the API: what happened, and what to do next. `request_id` finds the request in the log.
    The others are the members of `application/problem+json`.

    Source: https://www.rfc-editor.org/rfc/rfc9457
    """

    code: str
    message: str
    hint: str = ""
    request_id: str = ""
    type: str = "about:blank"
    title: str = ""
    status: int = 0
