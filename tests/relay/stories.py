"""A run's story, told through the real functions: opened, selected, leased, reported, finished.

For tests of what readers see. Nothing here writes a row by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from relay.contract import (
    Attempt,
    ChangedFile,
    Decision,
    Expected,
    FilteredTest,
    FunnelStep,
    LogKind,
    LogLine,
    LogPosted,
    NotTested,
    Observation,
    PlannedTestMessage,
    ReasonMessage,
    ResultsPosted,
    SelectionPosted,
    SelectionReport,
    ShardFinished,
    ShardOutcome,
    TestedOn,
    TestResult,
    Tree,
)
from relay.runs.creation import NewRun, open_run
from relay.runs.leases import LeaseTerms, lease_next
from relay.runs.reporting import accept_results, accept_selection, finish_shard
from relay.runs.run_log import accept_log
from relay.store.engine import Store
from relay.store.models import Run, Shard, Trigger

REPO = "pytorch/pytorch-like"
DEVICE = "spyre"
TERMS = LeaseTerms(lease_seconds=30, max_attempts=3)
START = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


@dataclass
class Story:
    """One store and a clock that every step moves on by a second."""

    store: Store
    now: datetime = START
    worker: str = "worker-1"
    sandbox: str = ""
    device: str = DEVICE
    sequences: dict[str, int] = field(default_factory=dict)
    said: dict[str, int] = field(default_factory=dict)
    #: Whether what is reported is also told in the log, as a worker does.
    speaks: bool = False

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def open(self, *, pr: int = 7, title: str = "Compute it in fewer steps", head: str = "1" * 40) -> int:
        """A new run of a pull request, as a webhook opens it."""
        now = self.tick()
        new = NewRun(
            identity=f"delivery:{now.isoformat()}:{pr}:{self.device}",
            repo=REPO,
            kind="pull_request",
            base_sha="2" * 40,
            head_sha=head,
            device=self.device,
            trigger=Trigger.WEBHOOK,
            pr_number=pr,
            title=title,
            base_ref="main",
            fetch_ref=f"refs/pull/{pr}/head",
        )
        with self.store.writing() as session:
            return open_run(session, new, now).id

    def lease(self) -> tuple[int, str, tuple[str, ...]]:
        """The next due shard: its id, the lease, and the ids of its tests."""
        with self.store.writing() as session:
            leased = lease_next(session, self.device, self.worker, self.tick(), TERMS, sandbox=self.sandbox)
            assert leased is not None
            assert leased.shard.lease_id is not None
            return leased.shard.id, leased.shard.lease_id, tuple(test.test_id for test in leased.tests)

    def select(self, report: SelectionReport) -> None:
        """Lease the select shard and report."""
        shard_id, lease_id, _ = self.lease()
        self.give(shard_id, lease_id, report)

    def give(self, shard_id: int, lease_id: str, report: SelectionReport) -> None:
        """Report a selection."""
        with self.store.writing() as session:
            accept_selection(session, shard_id, SelectionPosted(lease_id=lease_id, report=report), self.tick())

    def say(self, shard_id: int, lease_id: str, *lines: tuple[LogKind, str]) -> None:
        """Send lines of the shard's log."""
        if not lines:
            return
        first = self.said.get(lease_id, 0)
        said = tuple(
            LogLine(at=float(first + number), kind=kind, text=text) for number, (kind, text) in enumerate(lines)
        )
        with self.store.writing() as session:
            posted = LogPosted(lease_id=lease_id, first=first, lines=said)
            self.said[lease_id] = accept_log(session, shard_id, posted, self.now, 1 << 20).lines

    def report(self, shard_id: int, lease_id: str, results: Sequence[TestResult]) -> None:
        if self.speaks:
            self.say(shard_id, lease_id, *(line for result in results for line in lines_of(result)))
        sequence = self.sequences[lease_id] = self.sequences.get(lease_id, 0) + 1
        posted = ResultsPosted(lease_id=lease_id, sequence=sequence, results=tuple(results))
        with self.store.writing() as session:
            accept_results(session, shard_id, posted, self.tick())

    def finish(self, shard_id: int, lease_id: str) -> None:
        done = ShardFinished(lease_id=lease_id, outcome=ShardOutcome.DONE)
        with self.store.writing() as session:
            finish_shard(session, shard_id, done, self.tick(), TERMS)

    def run_all(self, outcomes: dict[str, TestResult]) -> None:
        """Every shard that is due, each test as told or simply passed."""
        while self.due():
            shard_id, lease_id, tests = self.lease()
            self.report(shard_id, lease_id, [outcomes.get(test) or passed(test) for test in tests])
            self.finish(shard_id, lease_id)

    def due(self) -> bool:
        with self.store.reading() as session:
            of_device = select(Shard.id).join(Run, Run.id == Shard.run_id).where(Run.device == self.device)
            return session.scalar(of_device.where(Shard.state == "due").limit(1)) is not None


def lines_of(result: TestResult) -> Iterator[tuple[LogKind, str]]:
    """What a worker says of a result, in short."""
    for tried in result.attempts:
        failed = tried.tree is Tree.HEAD and tried.observation not in {Observation.PASSED, Observation.SKIPPED}
        kind = LogKind.FAILURE if failed else LogKind.TEST
        yield kind, f"{tried.observation} {tried.duration_s:.3f} s  {result.id} on {tried.tree}"
        for line in tried.detail.split("\n") if failed else ():
            yield LogKind.OUTPUT, f"    {line[:1_000]}"


def attempt(observation: Observation, *, tree: Tree = Tree.HEAD, number: int = 1, detail: str = "") -> Attempt:
    return Attempt(tree=tree, number=number, observation=observation, duration_s=0.25 * number, detail=detail)


def passed(test: str) -> TestResult:
    return TestResult(id=test, attempts=(attempt(Observation.PASSED),))


def regressed(test: str, detail: str) -> TestResult:
    """Failed on head twice, passed on base."""
    head = [attempt(Observation.FAILED, number=number, detail=detail) for number in (1, 2)]
    return TestResult(id=test, attempts=(*head, attempt(Observation.PASSED, tree=Tree.BASE)))


def ended(test: str, observation: Observation, detail: str = "") -> TestResult:
    """One look at head and nothing else."""
    return TestResult(id=test, attempts=(attempt(observation, detail=detail),))


def flaked(test: str, detail: str) -> TestResult:
    first, second = attempt(Observation.FAILED, detail=detail), attempt(Observation.PASSED, number=2)
    return TestResult(id=test, attempts=(first, second))


def known(test: str, detail: str) -> TestResult:
    """Failed on head and on base alike."""
    base = attempt(Observation.FAILED, tree=Tree.BASE, detail=detail)
    return TestResult(id=test, attempts=(attempt(Observation.FAILED, detail=detail), base))


def reason(stage: int, rule: str, evidence: str, score: float | None = None) -> ReasonMessage:
    return ReasonMessage(stage=stage, rule=rule, evidence=evidence, score=score)


def planned(test: str, *, expected: Expected = Expected.MANDATORY_SUCCESS, base: str = "") -> PlannedTestMessage:
    return PlannedTestMessage(
        id=test,
        file=test.split("::", maxsplit=1)[0],
        base=base or base_of(test),
        expected=expected,
        rule="listed",
        provenance="demo.yaml:12",
        tags=("smoke",),
    )


def base_of(test: str) -> str:
    """`file::TestFooSPYRE::test_x_cpu` was generated from `file::TestFoo::test_x`."""
    file, cls, method = test.split("::", 2)
    return f"{file}::{cls.removesuffix('SPYRE')}::{method.split('__')[0]}"


def kept(test: str, *reasons: ReasonMessage) -> Decision:
    chain = reasons or (
        reason(2, "imports", "test imports torch.functional, which the change edits", 0.8),
        reason(3, "lexical rank", "no model is configured; ranked by words in common", 0.61),
        reason(4, "listed", "demo.yaml:12 lists the file"),
    )
    return Decision(test=test, kept=True, must_run=True, reasons=tuple(chain))


def dropped(test: str, *reasons: ReasonMessage) -> Decision:
    chain = reasons or (
        reason(2, "owner label", "module: tests owns both", 0.12),
        reason(3, "below the cut", "score 0.12 is under 0.30", 0.12),
    )
    return Decision(test=test, kept=False, reasons=tuple(chain))


def report_of(
    shards: Sequence[Sequence[PlannedTestMessage]],
    *,
    left_out: Sequence[Decision] = (),
    filtered: Sequence[FilteredTest] = (),
    decisions: Sequence[Decision] = (),
    notes: Sequence[str] = (),
    not_tested: NotTested | None = None,
    state: str = "selected",
    tested_on: TestedOn | None = None,
) -> SelectionReport:
    """A selection that fits its shards."""
    tests = [test for shard in shards for test in shard]
    chosen = list(decisions) or [kept(base) for base in sorted({test.base for test in tests})]
    counts = (len(chosen) + len(left_out) + 200, len(chosen) + len(left_out), len(chosen), len(tests))
    return SelectionReport(
        state=state,
        funnel=(
            FunnelStep(stage=1, name="Change", entered=1, left=1, unit="changed files", summary="1 changed function"),
            FunnelStep(
                stage=2,
                name="Ownership",
                entered=counts[0],
                left=counts[1],
                unit="base tests",
                summary="imports, labels",
            ),
            FunnelStep(
                stage=3, name="Triage", entered=counts[1], left=counts[2], unit="base tests", summary="ranked offline"
            ),
            FunnelStep(
                stage=4,
                name="Manifests",
                entered=len(tests) + len(filtered),
                left=len(tests),
                unit="collected tests",
                summary=f"{len(filtered)} kept from running",
            ),
        ),
        changed_files=(
            ChangedFile(
                path="torch/functional.py", status="modified", category="python source", symbols=("unravel_index",)
            ),
        ),
        decisions=(*chosen, *left_out),
        planned=tuple(tests),
        filtered=tuple(filtered),
        shards=tuple(tuple(test.id for test in shard) for shard in shards),
        notes=tuple(notes),
        not_tested=not_tested,
        tested_base_sha="2" * 40,
        tested_on=tested_on,
    )
