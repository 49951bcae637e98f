"""A candidate keeps what it knows when something is added."""

from __future__ import annotations

from dataclasses import fields, replace

from selector.types import BaseTest, Candidate, Reason, Stage, WeighedSignal

REASON = Reason(Stage.TRIAGE, "offline ranker", "0.41", 0.41)
FULL = Candidate(
    BaseTest("test/test_a.py", "TestA", "test_a"),
    (Reason(Stage.OWNERSHIP, "mention", "add"),),
    must_run=True,
    score=0.3,
    probability=0.2,
    signals=(WeighedSignal("co-change", 1.2, "torch/a.py"),),
    seconds=2.5,
    assumed=True,
)


def test_every_field_of_the_example_says_something() -> None:
    """So that a field which is added is added to it too."""
    empty = Candidate(FULL.test)
    same = [it.name for it in fields(Candidate) if getattr(FULL, it.name) == getattr(empty, it.name)]
    assert same == ["test"]


def test_a_reason_adds_itself_and_its_score() -> None:
    assert FULL.because(REASON) == replace(FULL, reasons=(*FULL.reasons, REASON), score=0.41)
    silent = replace(REASON, score=None)
    assert FULL.because(silent) == replace(FULL, reasons=(*FULL.reasons, silent))


def test_seconds_replace_seconds() -> None:
    assert FULL.lasting(0.5, assumed=False) == replace(FULL, seconds=0.5, assumed=False)
