"""What workers and the relay say to each other, as examples."""

from __future__ import annotations

from relay.contract import (
    Accepted,
    BrokenWith,
    Change,
    Expected,
    FailedLast,
    Heartbeat,
    HeartbeatReply,
    Lease,
    LeaseRequest,
    MissedWith,
    ObservedOperators,
    OperatorsAsked,
    OperatorUses,
    Past,
    PastAsked,
    PlannedTestMessage,
    ResultsPosted,
    SelectionPosted,
    SelectionReport,
    ShardFinished,
    ShardKind,
    ShardOutcome,
    TestOrder,
    TestResult,
    TestSeconds,
)
from relay.web.description.examples.runs import (
    ATTEMPTS,
    BASE,
    BASE_TEST,
    DECIDED,
    FILE,
    FILES,
    FUNNEL,
    HEAD,
    TEST,
    TESTED_ON,
)

_LEASE = "0d9be86e-9a34-4f5b-8d23-2f8f2a3a6f11"
_PATH = "aten/src/ATen/native/BinaryOps.cpp"

WORK = (
    LeaseRequest(worker="spyre-1", device="spyre"),
    Lease(
        lease_id=_LEASE,
        shard_id=512,
        run_id=128,
        kind=ShardKind.TEST,
        attempt=1,
        expires_in_s=30.0,
        change=Change(
            repo="pytorch/pytorch",
            clone_url="https://github.com/pytorch/pytorch.git",
            fetch_ref="refs/pull/4711/head",
            base_sha=BASE,
            head_sha=HEAD,
            pr_number=4711,
            title="Add in fewer steps",
        ),
        tests=(TestOrder(id=TEST, file=FILE, expected=Expected.MANDATORY_SUCCESS),),
        tested_on=TESTED_ON,
    ),
    Heartbeat(lease_id=_LEASE, progress=f"running {FILE}"),
    HeartbeatReply(cancelled=False),
    SelectionPosted(
        lease_id=_LEASE,
        report=SelectionReport(
            state="selected",
            funnel=FUNNEL,
            changed_files=FILES,
            decisions=(DECIDED,),
            planned=(
                PlannedTestMessage(
                    id=TEST,
                    file=FILE,
                    base=BASE_TEST,
                    expected=Expected.MANDATORY_SUCCESS,
                    rule="listed by name",
                    provenance="test_ops.yaml:14",
                    op="add",
                    dtype="float32",
                ),
            ),
            shards=((TEST,),),
            tested_on=TESTED_ON,
        ),
    ),
    ResultsPosted(
        lease_id=_LEASE,
        sequence=1,
        results=(TestResult(id=TEST, attempts=ATTEMPTS, operators=("aten::add.Tensor",)),),
    ),
    ShardFinished(lease_id=_LEASE, outcome=ShardOutcome.DONE),
    Accepted(),
    OperatorsAsked(device="spyre", operators=("aten::add",)),
    ObservedOperators(operators=(OperatorUses(operator="aten::add", tests=(BASE_TEST,), total=1),)),
    PastAsked(device="spyre", files=(FILE,), paths=(_PATH,), repo="pytorch/pytorch", pr_number=4711, head_sha=HEAD),
    Past(
        durations=(TestSeconds(file=FILE, test=BASE_TEST, seconds=8.4),),
        failed_last=(FailedLast(test=BASE_TEST, evidence="broke in run 127 of this pull request"),),
        failed_with=(BrokenWith(path=_PATH, test=BASE_TEST, strength=0.5),),
        missed_with=(MissedWith(path=_PATH, test=BASE_TEST, evidence="missed by run 90, found by audit 95"),),
    ),
)
