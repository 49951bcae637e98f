"""What would change the fate of a test."""

from __future__ import annotations

import pytest

from selector.explanation import what_would_change
from selector.triage.lexical import KEEP_AT
from selector.types import BaseTest, Candidate, Reason, Stage

TEST = BaseTest("test/test_a.py", "TestA", "test_add")


def advice(*reasons: Reason, kept: bool, must_run: bool = False) -> str:
    return "; ".join(what_would_change(Candidate(TEST, reasons, must_run), kept))


@pytest.mark.parametrize(
    ("reason", "kept", "words"),
    [
        (Reason(Stage.TRIAGE, "offline ranker", "", 0.21), False, f"kept from {KEEP_AT:.2f}, has 0.21"),
        (Reason(Stage.TRIAGE, "offline ranker", "", 0.21), False, "--full"),
        (Reason(Stage.TRIAGE, "model: run", "", 0.72), True, f"kept from {KEEP_AT:.2f}, has 0.72"),
        (Reason(Stage.MANIFESTS, "not_in_manifests", ""), False, "no manifest lists test/test_a.py"),
        (Reason(Stage.MANIFESTS, "listed", "m.yaml:3: skip"), False, "another mode than skip"),
        (Reason(Stage.MANIFESTS, "over the budget of 600 s", ""), False, "a larger budget"),
        (Reason(Stage.MANIFESTS, "holdout", ""), True, "another lot"),
        (Reason(Stage.OWNERSHIP, "widened", ""), True, "the cause of the widening"),
    ],
)
def test_the_nearest_way_is_told(reason: Reason, kept: bool, words: str) -> None:
    assert words in advice(reason, kept=kept)


def test_only_a_manifest_leaves_out_what_must_run() -> None:
    assert "only a manifest" in advice(Reason(Stage.OWNERSHIP, "edited test", "", 1.0), kept=True, must_run=True)


def test_without_a_reason_there_is_no_advice() -> None:
    assert what_would_change(Candidate(TEST), False) == ()
    assert what_would_change(Candidate(TEST), True) == ()
