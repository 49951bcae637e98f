"""One test's chain for people: the decision first, then what each stage said, then what would change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from relay.cli import selection_text
from relay.cli.output import Output, one_line
from relay.cli.selection_page import said
from selector.explanation import TAKES_ALL, Decision, deciding, decision_of, what_would_change
from selector.types import Candidate, Stage

_STAGES = {stage: f"stage {stage:d} {stage.name.lower()}" for stage in Stage}


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a considered test. `stages` are sentences for stages that said nothing of this test; `time` says
    how long it takes, empty when that was not told; `more` are further lines."""

    candidate: Candidate
    kept: bool
    plan: str
    stages: Mapping[Stage, str]
    time: str
    more: tuple[tuple[str, str], ...] = ()


def show_chain(out: Output, told: Told) -> None:
    """The whole chain."""
    out.say(one_line(str(told.candidate.test), 1_000))
    out.say(verdict(told.candidate, told.kept))
    out.say()
    out.table(("", ""), _unrepeated([*_stages(told), *_facts(told)]))


def show_several(out: Output, considered: Sequence[tuple[Candidate, bool]], count: int) -> None:
    """A line for each of the tests that a name can mean."""
    rows = [(one_line(str(candidate.test), 1_000), verdict(candidate, kept)) for candidate, kept in considered]
    out.table(("TEST", "DECISION"), rows)
    out.note(selection_text.several(count, len(considered)))


def verdict(candidate: Candidate, kept: bool) -> str:
    """`left out by "offline ranker" (stage 3 triage)`."""
    decision, reason = decision_of(candidate, kept), deciding(candidate, kept)
    if reason is None or decision is Decision.BY_LOT:
        return decision.value
    return selection_text.decided(decision, one_line(reason.rule), _STAGES[reason.stage])


def _stages(told: Told) -> Iterator[tuple[str, str]]:
    for stage, name in _STAGES.items():
        reasons = [reason for reason in told.candidate.reasons if reason.stage is stage]
        yield from ((name, said(reason)) for reason in reasons)
        if not reasons and (sentence := _silent(stage, told)):
            yield name, sentence


def _silent(stage: Stage, told: Told) -> str:
    """Why a stage said nothing of this test."""
    if stage is not Stage.TRIAGE:
        return told.stages.get(stage, "")
    if told.candidate.must_run:
        return selection_text.not_asked("stage 2 says that it must run")
    if any(reason.rule in TAKES_ALL for reason in told.candidate.reasons):
        return selection_text.not_asked("every test is taken")
    return selection_text.not_asked("nothing ties it to the change")


def _facts(told: Told) -> Iterator[tuple[str, str]]:
    candidate = told.candidate
    yield from told.more
    if told.time:
        yield "probability", selection_text.probability(candidate.probability)
        yield "time", told.time
    if told.plan:
        yield "plan", told.plan
    yield from (("to change it", one_line(way, 500)) for way in what_would_change(candidate, told.kept))


def _unrepeated(rows: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The rows with each name once, where it begins."""
    before = ""
    for name, sentence in rows:
        yield ("" if name == before else name), sentence
        before = name
