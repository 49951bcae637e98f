"""Answers about the whole service, as examples: what goes on, the trunk, audits, quality, manifests."""

from __future__ import annotations

from datetime import UTC, date, datetime

from relay.audit_views import AuditedTest, AuditOutcome, AuditPage, AuditState, AuditView
from relay.manifest_views import (
    ExpiringEntry,
    ManifestBlock,
    ManifestFinding,
    ManifestsView,
    PromotionProposal,
    Promotions,
)
from relay.now_views import DeviceNow, Expectation, ExpectedBy, NowView, RunNow, ShardsNow
from relay.quality_views import AuditFigures, DayFigures, LotFigures, QualityView
from relay.queue_views import Backlog, Wait, Waiting, WorkClass
from relay.trunk_views import Outcome, TrunkCommit, TrunkJob, TrunkPage, TrunkResult
from relay.views import Health, Version
from relay.web.description.examples.runs import BASE, BASE_TEST, BEGUN, ENDED, FILE, HEAD, TEST, WAITING

AUDIT = AuditView(
    id=120,
    device="spyre",
    base_sha=BASE,
    head_sha=HEAD,
    state=AuditState.SETTLED,
    created_at=datetime(2026, 11, 30, 2, 0, tzinfo=UTC),
    finished_at=datetime(2026, 11, 30, 3, 12, tzinfo=UTC),
    tests=(AuditedTest(test=TEST, outcome=AuditOutcome.CAUGHT, asked=1),),
)
_FIGURES = AuditFigures(id=120, at=datetime(2026, 11, 30, 3, 12, tzinfo=UTC), broken=8, caught=7, missed=1)
_DAY = DayFigures(
    day="2026-11-29", selections=31, kept=402, dropped=6_118, expected_seconds=2_900.0, seconds_saved=160_000.0
)

OVERVIEW = (
    Version(name="oot-relay", version="0.1.0"),
    Health(status="ok", database="ok", device="spyre", devices=("spyre", "quartz"), manifest_problem=""),
    NowView(
        devices=(
            DeviceNow(
                device="spyre",
                running=(),
                queued=(
                    RunNow(
                        run=WAITING,
                        elapsed_s=12.0,
                        expected=Expectation(seconds=140.0, runs=20, by=ExpectedBy.KIND),
                        shards=ShardsNow(waiting=1),
                        workers=(),
                        place=1,
                        starts_in_s=30.0,
                        waiting=Waiting(
                            work_class=WorkClass.PULL_REQUEST,
                            wait=Wait.NEXT,
                            shards_before=0,
                            group_leases=0,
                            limit=2,
                        ),
                    ),
                ),
                queued_total=1,
                workers=(),
                backlog=Backlog(workers=4, for_each_worker_s=35.0, deep_after_s=1_800.0),
            ),
        ),
        last_event=9_017,
    ),
    TrunkPage(
        commits=(
            TrunkCommit(
                key=126,
                sha=HEAD,
                title="Add in fewer steps (#4711)",
                at=BEGUN,
                results=(
                    TrunkResult(
                        job=TrunkJob(where="spyre", name="selected tests", ours=True),
                        outcome=Outcome.PASSED,
                        at=ENDED,
                        attempts=1,
                        broken=0,
                        run_id=126,
                        url="https://relay.example.org/runs/126",
                    ),
                ),
            ),
        ),
        next_before=126,
        next="/api/v1/trunk?limit=1&cursor=WzEyNl0",
    ),
    AUDIT,
    AuditPage(audits=(AUDIT,), next="/api/v1/audits?limit=1&cursor=WzEyMF0"),
    QualityView(device="spyre", days=90, audits=(_FIGURES,), selections=(_DAY,), lot=LotFigures(drawn=310, missed=1)),
    ManifestsView(
        device="spyre",
        digest="4b1c" * 16,
        problem="",
        manifests=("test_ops.yaml",),
        blocks=(
            ManifestBlock(
                place="test_ops.yaml:3",
                file=FILE,
                upstream=True,
                model=False,
                unlisted="skip",
                entries=12,
                names=64,
                modes={"mandatory_success": 50, "xfail": 14},
            ),
        ),
        findings=(
            ManifestFinding(
                file="test_ops.yaml",
                line=21,
                column=5,
                severity="warning",
                rule="no-issue",
                message="an xfail without an issue",
                how="Name the issue that will end it.",
            ),
        ),
        expiring=(
            ExpiringEntry(
                place="test_ops.yaml:30",
                mode="xfail",
                names=(BASE_TEST,),
                expires=date(2026, 12, 31),
                days_left=31,
                reason="rounds to even",
                issue="acme/torch-acme#12",
                owner="ann",
            ),
        ),
        promotions=Promotions(
            proposals=(
                PromotionProposal(
                    place="test_ops.yaml:44",
                    file=FILE,
                    base=BASE_TEST,
                    variants=2,
                    runs=40,
                    days=15,
                    machines=("spyre-1", "spyre-2"),
                    first=datetime(2026, 11, 14, 9, 0, tzinfo=UTC),
                    last=ENDED,
                ),
            ),
            waiting=(),
            from_runs=(128, 127),
        ),
    ),
)
