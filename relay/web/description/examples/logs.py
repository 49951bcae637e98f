"""What shards print and what a run leaves behind, as examples."""

from __future__ import annotations

from relay.artifact_views import SelectionDocument
from relay.contract import FilteredTest, LogKind, LogLine, LogPosted, LogTaken
from relay.log_views import LogLineView, LogPage, ShardLogView
from relay.views import PlanView
from relay.web.description.examples.runs import BASE_TEST, DECIDED, FILE, FILES, FUNNEL, RUN, TEST

_FAILED = LogLineView(
    place="81.16",
    shard=512,
    attempt=1,
    number=41,
    at=14.115,
    kind=LogKind.FAILURE,
    text=f"failed       0.069 s  {TEST}",
)

LOGS = (
    LogPosted(
        lease_id="0d9be86e-9a34-4f5b-8d23-2f8f2a3a6f11",
        first=24,
        lines=(LogLine(at=1.203, kind=LogKind.STEP, text=f"running {FILE} (1 of 4)"),),
    ),
    LogTaken(lines=25, full=False),
    LogPage(
        lines=(_FAILED,),
        logs=(
            ShardLogView(
                shard=512, attempt=1, lines=212, bytes=18_240, failures=3, full=False, first_failure=_FAILED.place
            ),
        ),
        first="81.16",
        last="81.16",
        earlier=True,
        later=True,
        searched=1,
        total=212,
        over=False,
        next="/api/v1/runs/128/log?limit=1&cursor=WzgxLDE2XQ",
    ),
    SelectionDocument(
        run=RUN,
        selection_state="selected",
        plan=PlanView(key="5d41402abc4b2a76", expected_seconds=412.5, seconds_saved=9_120.0, expected_misses=0.02),
        notes=("no model is configured; the offline ranker was used",),
        changed_files=FILES,
        funnel=FUNNEL,
        decisions=(DECIDED,),
        filtered=(FilteredTest(id=f"{TEST}_f16", base=BASE_TEST, rule="dtype_unsupported", provenance="ops.yaml:12"),),
    ),
)
