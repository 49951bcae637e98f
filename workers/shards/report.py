"""Selector values as messages for the relay: the one place where texts are capped to the contract's limits.

Pure: no I/O and no decisions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from relay.contract import (
    MESSAGE_CAP,
    SHORT_CAP,
    ChangedFile,
    Decision,
    Expected,
    FilteredTest,
    FunnelStep,
    NotTested,
    NotTestedReason,
    PlannedTestMessage,
    ReasonMessage,
    SelectionReport,
    TestedOn,
)
from selector.change import ChangeSet, FileChange
from selector.types import BaseTest, Candidate, CollectedTest, Mode, PlannedTest, Reason, Selection, Stage, StageCount
from workers.shards.packing import Durations, PackedShard, PackedTest, ShardRoom, pack
from workers.untrusted import storable

EVIDENCE_CAP = 2_000
PATH_CAP = 1_000
_SYMBOLS_SHOWN = 50
_NOTES_SHOWN = 200

_NOTHING_RECORDED: Durations = {}

_STAGE_NAMES = {
    Stage.CHANGE: "change",
    Stage.OWNERSHIP: "ownership",
    Stage.TRIAGE: "triage",
    Stage.MANIFESTS: "manifests",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What stage 4 made of the collected tests."""

    planned: tuple[PlannedTest, ...] = ()
    notes: tuple[str, ...] = ()


def selection_report(
    change: ChangeSet,
    selection: Selection,
    plan: Plan,
    *,
    room: ShardRoom,
    base_sha: str,
    not_tested: NotTested | None = None,
    tested_on: TestedOn | None = None,
    durations: Durations = _NOTHING_RECORDED,
) -> SelectionReport:
    """The message of a select shard."""
    to_run = [test for test in plan.planned if test.expectation.mode is not Mode.SKIP]
    filtered = [test for test in plan.planned if test.expectation.mode is Mode.SKIP]
    kept = {candidate.test for candidate in selection.kept}
    bases = {_decided_as(test.test, kept) for test in to_run}
    generated = f"{len(to_run)} of {len(plan.planned)} tests generated from them are to run"
    counts = [_as_planned(count, len(bases), generated) if plan.planned else count for count in selection.funnel]
    notes = [capped(note, EVIDENCE_CAP) for note in (*selection.notes, *plan.notes)]
    # A plan that is not carried out costs nothing and sees nothing, so what it would have cost is not told.
    cost = selection.cost if not_tested is None else None
    shards = _shards(to_run, kept, durations, room)
    return SelectionReport(
        state=selection.state.value,
        funnel=tuple(_step(count) for count in counts),
        changed_files=tuple(_changed_file(file) for file in change.files),
        decisions=(*_decisions(selection.kept, kept=True), *_decisions(selection.dropped, kept=False)),
        planned=tuple(_planned(test, _decided_as(test.test, kept)) for test in to_run),
        filtered=tuple(_filtered(test, _decided_as(test.test, kept)) for test in filtered),
        shards=tuple(shard.ids for shard in shards),
        shard_seconds=tuple(shard.expected_s for shard in shards),
        notes=tuple(notes[:_NOTES_SHOWN]),
        not_tested=not_tested,
        tested_base_sha=base_sha,
        tested_on=tested_on,
        plan_key=capped(selection.key, SHORT_CAP),
        expected_seconds=cost.expected_s if cost else 0.0,
        seconds_saved=cost.saved_s if cost else 0.0,
        expected_misses=cost.expected_misses if cost else 0.0,
    )


def not_tested(reason: NotTestedReason, detail: str) -> NotTested:
    return NotTested(reason=reason, detail=capped(detail, MESSAGE_CAP))


def _shards(
    tests: Iterable[PlannedTest], kept: Collection[BaseTest], durations: Durations, room: ShardRoom
) -> tuple[PackedShard, ...]:
    """Named as they are recorded, so that what is recorded is found."""
    wanted = [
        PackedTest(
            one.test.id,
            one.test.file,
            capped(str(_decided_as(one.test, kept)), PATH_CAP),
            isolate=one.expectation.isolate,
        )
        for one in tests
    ]
    return pack(wanted, durations, room)


def capped(text: str, limit: int) -> str:
    """The text, cut at `limit` characters with a sign that something is missing."""
    text = storable(text)
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _as_planned(count: StageCount, left: int, generated: str) -> StageCount:
    """The manifests' step of the funnel once variants are known: base tests with one to run."""
    if count.stage is not Stage.MANIFESTS:
        return count
    return replace(count, left=left, summary=f"{count.summary}; {generated}")


def _step(count: StageCount) -> FunnelStep:
    return FunnelStep(
        stage=int(count.stage),
        name=_STAGE_NAMES[count.stage],
        entered=count.entered,
        left=count.left,
        unit=capped(count.unit, SHORT_CAP),
        summary=capped(count.summary, EVIDENCE_CAP),
    )


def _changed_file(file: FileChange) -> ChangedFile:
    return ChangedFile(
        path=capped(file.path, PATH_CAP),
        status=capped(file.status, SHORT_CAP),
        category=file.category.value,
        symbols=tuple(capped(symbol, SHORT_CAP) for symbol in file.symbols[:_SYMBOLS_SHOWN]),
    )


def _decisions(candidates: Sequence[Candidate], *, kept: bool) -> Iterable[Decision]:
    for candidate in candidates:
        yield Decision(
            test=capped(str(candidate.test), PATH_CAP),
            kept=kept,
            must_run=candidate.must_run,
            reasons=tuple(_reason(reason) for reason in candidate.reasons),
            seconds=candidate.seconds,
            probability=candidate.probability,
        )


def _reason(reason: Reason) -> ReasonMessage:
    return ReasonMessage(
        stage=int(reason.stage),
        rule=capped(reason.rule, SHORT_CAP),
        evidence=capped(reason.evidence, EVIDENCE_CAP),
        score=reason.score,
    )


def _decided_as(test: CollectedTest, kept: Collection[BaseTest]) -> BaseTest:
    """The base test whose decision brought a collected test in: its own, or that about the rest of its file."""
    rest = BaseTest(test.file, "", "")
    return rest if test.base_test not in kept and rest in kept else test.base_test


def _planned(planned: PlannedTest, base: BaseTest) -> PlannedTestMessage:
    return PlannedTestMessage(
        id=planned.test.id,
        file=planned.test.file,
        base=capped(str(base), PATH_CAP),
        expected=Expected(planned.expectation.mode.value),
        rule=capped(planned.expectation.rule, SHORT_CAP),
        provenance=capped(planned.expectation.provenance, SHORT_CAP),
        tags=tuple(capped(tag, SHORT_CAP) for tag in planned.expectation.tags),
        isolate=planned.expectation.isolate,
        timeout_s=planned.expectation.timeout_s,
        op=capped(planned.test.op or "", SHORT_CAP),
        dtype=capped(planned.test.dtype or "", SHORT_CAP),
    )


def _filtered(planned: PlannedTest, base: BaseTest) -> FilteredTest:
    return FilteredTest(
        id=planned.test.id,
        base=capped(str(base), PATH_CAP),
        rule=capped(planned.expectation.rule, SHORT_CAP),
        provenance=capped(planned.expectation.provenance, SHORT_CAP),
    )
