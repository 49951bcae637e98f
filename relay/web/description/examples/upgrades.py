"""Answers about upgrades of upstream, as examples."""

from __future__ import annotations

from relay.upgrade.document import (
    EvidencePart,
    FunnelPart,
    GovernedPart,
    OperatorPart,
    OutcomePart,
    OutcomesPart,
    PlacePart,
    SummaryPart,
    TestPart,
    VariantPart,
)
from relay.upgrade.views import (
    CauseView,
    DutyWord,
    ExecutionView,
    Mode,
    OperatorsView,
    OpInfoAspect,
    OutcomeKind,
    Published,
    TestChange,
    UpgradePage,
    UpgradeSummary,
    UpgradeTestPage,
    UpgradeTestView,
    UpgradeView,
)
from relay.web.description.examples.runs import BASE, ENDED, HEAD, RUN

_TEST = "test/test_nn.py::TestNN::test_pad"
_SUMMARY = UpgradeSummary(
    id=2,
    base="v2.13.0",
    head="v2.14.0",
    device="spyre",
    repository="https://github.com/pytorch/pytorch",
    base_commit=BASE,
    head_commit=HEAD,
    duties={DutyWord.MUST: 212, DutyWord.SHOULD: 640, DutyWord.NEW: 311, DutyWord.NOTHING: 27_004},
    changes={TestChange.BODY: 801, TestChange.ADDED: 311, TestChange.UNCHANGED: 27_055},
    published_by="release duty",
    published_at=ENDED,
    base_run_id=None,
    head_run_id=None,
    url="https://relay.example.org/upgrades/2",
)
_EVIDENCE = EvidencePart(
    kind=TestChange.BODY,
    symbol="TestNN.test_pad",
    text="two lines differ",
    base=PlacePart(path="test/test_nn.py", line=410, end_line=422),
    head=PlacePart(path="test/test_nn.py", line=431, end_line=444),
)
_ENTRY = GovernedPart(
    provenance="nn.yaml:7", mode=Mode.MANDATORY_SUCCESS, variants_before=2, variants_after=3, note="one dtype more"
)

_OUTCOMES = OutcomesPart(
    outcomes=(
        OutcomePart(
            id="test/test_nn.py::TestNNSPYRE::test_pad_spyre_float32",
            test=TestPart(file="test/test_nn.py", cls="TestNN", name="test_pad"),
            kind=OutcomeKind.BROKEN,
            before="passed",
            after="failed",
            reason="passed on v2.13.0, failed on v2.14.0",
        ),
    ),
    same=4_210,
    only_after=12,
)

UPGRADES = (
    Published(upgrade=_SUMMARY, repeated=False),
    ExecutionView(base=RUN, head=RUN, outcomes=_OUTCOMES),
    UpgradePage(upgrades=(_SUMMARY,), next="/api/v1/upgrades?limit=1&cursor=WzJd"),
    UpgradeView(
        upgrade=_SUMMARY,
        funnel=(
            FunnelPart(name="variants of the device", left=41_200, unit="variants", summary="estimated from dtypes"),
            FunnelPart(name="must assess", left=212, unit="tests", summary="governed and changed"),
            FunnelPart(name="causes", left=31, unit="causes", summary="one look settles each"),
        ),
        operators=OperatorsView(
            before=672,
            after=680,
            total=1,
            changes=(
                OperatorPart(
                    name="nn.functional.pad",
                    change=TestChange.BODY,
                    aspects=(OpInfoAspect.DTYPES,),
                    dtypes_before=("float32",),
                    dtypes_after=("bfloat16", "float32"),
                    evidence=(0,),
                ),
            ),
            notes=(),
        ),
        evidence=(_EVIDENCE,),
        variants=(
            VariantPart(
                test=TestPart(file="test/test_nn.py", cls="TestNN", name="test_pad"),
                op="nn.functional.pad",
                dtypes=("bfloat16",),
                governed=_ENTRY,
            ),
        ),
        variants_total=1,
        summaries=(SummaryPart(area="padding", text="Padding checks its sizes earlier.", model="a-model"),),
        outcomes=None,
        notes=(),
        files_before=812,
        files_after=836,
        seconds=41.5,
    ),
    UpgradeTestPage(
        tests=(
            UpgradeTestView(
                test=_TEST,
                file="test/test_nn.py",
                changes=(TestChange.BODY,),
                duty=DutyWord.MUST,
                reason="nn.yaml:7 asks for it, and its body changed",
                cause="pad",
                former="",
                confidence=1.0,
                suggested=None,
                governed=(_ENTRY,),
                evidence=(_EVIDENCE,),
            ),
        ),
        total=212,
        causes=(CauseView(cause="pad", tests=12),),
        next="/api/v1/upgrades/2/tests?limit=1&cursor=WzFd",
    ),
)
