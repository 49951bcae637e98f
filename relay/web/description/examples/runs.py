"""Answers about runs, tests and changes, as examples. One story: a pull request that breaks one test."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.change_views import BaseComparison, ChangeGroup, ChangeView
from relay.contract import (
    Attempt,
    ChangedFile,
    Decision,
    Expected,
    FilteredTest,
    FunnelStep,
    Observation,
    ReasonMessage,
    TestedOn,
    Tree,
)
from relay.views import (
    BranchFailure,
    Conclusion,
    DecisionPage,
    FlakeRate,
    PlanView,
    RunDetail,
    RunEvent,
    RunHistory,
    RunPage,
    RunState,
    RunSummary,
    ShardView,
    SubmissionView,
    TestHistory,
    TestOutcome,
    TestPage,
    TestView,
    Verdict,
)

HEAD, BASE = "1f" * 20, "2e" * 20
FILE = "test/test_ops.py"
BASE_TEST = f"{FILE}::TestCommon::test_out"
TEST = f"{FILE}::TestCommonSPYRE::test_out_add_spyre_float32"
BEGUN, ENDED = datetime(2026, 11, 30, 9, 0, 4, tzinfo=UTC), datetime(2026, 11, 30, 9, 2, 31, tzinfo=UTC)

RUN = RunSummary(
    id=128,
    repo="pytorch/pytorch",
    pr_number=4711,
    title="Add in fewer steps",
    base_sha=BASE,
    head_sha=HEAD,
    device="spyre",
    trigger="webhook",
    attempt=1,
    rerun_of=None,
    state=RunState.FINISHED,
    conclusion=Conclusion.FAILURE,
    headline="1 test breaks with this change",
    planned=41,
    reported=41,
    verdicts={Verdict.REGRESSION: 1, Verdict.OK: 40},
    created_at=datetime(2026, 11, 30, 9, 0, tzinfo=UTC),
    started_at=BEGUN,
    finished_at=ENDED,
    url="https://relay.example.org/runs/128",
)
WAITING = RUN.model_copy(
    update={
        "id": 129,
        "attempt": 2,
        "rerun_of": 128,
        "trigger": "rerun",
        "state": RunState.RECEIVED,
        "conclusion": None,
        "headline": "Waiting for a worker to choose tests",
        "planned": 0,
        "reported": 0,
        "verdicts": {},
        "started_at": None,
        "finished_at": None,
        "url": "https://relay.example.org/runs/129",
    }
)
ATTEMPTS = (
    Attempt(
        tree=Tree.HEAD,
        number=1,
        observation=Observation.FAILED,
        duration_s=0.21,
        detail="AssertionError: Tensor-likes are not close!",
    ),
    Attempt(tree=Tree.BASE, number=1, observation=Observation.PASSED, duration_s=0.2),
)
BROKEN = TestView(
    id=TEST,
    file=FILE,
    base=BASE_TEST,
    expected=Expected.MANDATORY_SUCCESS,
    rule="listed by name",
    provenance="test_ops.yaml:14",
    tags=(),
    shard_id=512,
    verdict=Verdict.REGRESSION,
    observation=Observation.FAILED,
    duration_s=0.21,
    detail="AssertionError: Tensor-likes are not close!",
    attempts=ATTEMPTS,
    op="add",
    dtype="float32",
)
REASONS = (
    ReasonMessage(stage=2, rule="covers", evidence="aten/src/ATen/native/BinaryOps.cpp defines add", score=0.8),
    ReasonMessage(stage=4, rule="listed", evidence="test_ops.yaml:14"),
)
FUNNEL = (
    FunnelStep(stage=1, name="change", entered=3, left=2, unit="files", summary="1 file changes comments only"),
    FunnelStep(stage=2, name="ownership", entered=18_204, left=212, unit="base tests", summary="by operators"),
)
FILES = (
    ChangedFile(
        path="aten/src/ATen/native/BinaryOps.cpp", status="modified", category="native", symbols=("at::native::add",)
    ),
)
DECIDED = Decision(test=BASE_TEST, kept=True, reasons=REASONS, seconds=8.4, probability=0.3)
TESTED_ON = TestedOn(name="wheel 2.13.0", torch_version="2.13.0", python_version="3.11", sandbox="bubblewrap")

DETAIL = RunDetail(
    run=RUN,
    selection_state="selected",
    funnel=FUNNEL,
    changed_files=FILES,
    notes=(),
    not_tested=None,
    shards=(
        ShardView(
            id=512,
            kind="test",
            state="done",
            attempt=1,
            worker="spyre-1",
            progress="",
            tests=41,
            reported=41,
            error="",
            sandbox="bubblewrap",
            sandbox_of="spyre-1",
        ),
    ),
    kept=12,
    dropped=200,
    filtered=7,
    tested_on=TESTED_ON,
    plan=PlanView(key="9d2c61", expected_seconds=96.0, seconds_saved=5_400.0, expected_misses=0.02),
)
OUTCOME = TestOutcome(
    run_id=128,
    at=ENDED,
    repo=RUN.repo,
    pr_number=4711,
    title=RUN.title,
    head_sha=HEAD,
    base_sha=BASE,
    trigger="webhook",
    expected=Expected.MANDATORY_SUCCESS,
    verdict=Verdict.REGRESSION,
    observation=Observation.FAILED,
    seconds=0.21,
    on_branch=True,
)
ON_BRANCH = OUTCOME.model_copy(update={"run_id": 131, "pr_number": None, "on_branch": False})
FLAKES = FlakeRate(test=TEST, device="spyre", runs=100, attempts=118, commits=96, disagreements=2)

RUNS = (
    RunPage(runs=(RUN,), next_before=128, next="/api/v1/runs?state=finished&limit=1&cursor=WzEyOF0"),
    WAITING,
    DETAIL,
    TestPage(tests=(BROKEN,), total=41, next="/api/v1/runs/128/tests?limit=1&cursor=WzAsNDAyMV0"),
    DecisionPage(
        decisions=(DECIDED,),
        filtered=(FilteredTest(id=f"{TEST}_x", base=BASE_TEST, rule="tag: slow", provenance="test_ops.yaml:3"),),
        total=212,
        next="/api/v1/runs/128/decisions?limit=1&cursor=WzFd",
    ),
    RunHistory(
        events=(RunEvent(id=9_001, run_id=128, at=BEGUN, kind="run.selecting", text="spyre-1 chooses tests"),),
        next_after=9_001,
        over=False,
        next="/api/v1/runs/128/history?limit=1&cursor=WzkwMDFd",
    ),
    FLAKES,
    TestHistory(
        test=TEST,
        device="spyre",
        outcomes=(ON_BRANCH, OUTCOME),
        next_before=None,
        failing=BranchFailure(first_bad=ON_BRANCH, last_good=OUTCOME, outcomes=1),
        flakes=FLAKES,
    ),
    ChangeView(
        repo=RUN.repo,
        pr_number=4711,
        head_sha=HEAD,
        run=RUN,
        repeats=(),
        counts={ChangeGroup.NEW: 1, ChangeGroup.FINE: 40},
        tests={ChangeGroup.NEW: (BROKEN,)},
        base=BaseComparison(compared=1, broken=1),
        runs=(RUN,),
        cut=False,
    ),
    SubmissionView(delivery_id="6a1f0c2e", repeated=False, note="", run=WAITING),
)
