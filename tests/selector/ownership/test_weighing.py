"""Scores come from all signals together; must-run stays with the rules, and files beyond the rules are proposed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Reached, Status
from selector.known import Known
from selector.ownership import link_tests
from selector.ownership.model import STANDS_ALONE, shipped_model
from selector.ownership.weighing import RULE, Weighing
from selector.triage.lexical import KEEP_AT
from selector.types import Reason, Stage
from tests.selector.upstream import MemoryTree

FILES = {f"test/test_filler{number}.py": f"def test_{number}(): filler{number}()\n" for number in range(40)}
CATALOG = build_catalog(
    MemoryTree(
        {
            **FILES,
            "test/test_gelu.py": "def test_says_it(): gelu()\ndef test_near(): pass\n",
            "test/test_past.py": "def test_broke_before(): other()\n",
        }
    )
)
GELU = FileChange(
    "torch/nn/gelu.py", None, Status.MODIFIED, Category.PYTHON_SOURCE, ("gelu",), reached=(Reached("gelu", "gelu"),)
)


class Past:
    """A history in which `torch/nn/gelu.py` often changed with `test/test_past.py`."""

    def changed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        return {path: {"test/test_past.py": 12.0} for path in paths}


def scores(history: Past | None = None) -> dict[str, float]:
    found = link_tests(ChangeSet((GELU,)), CATALOG, "Make gelu exact", known=Known(history=history)).candidates
    return {candidate.test.name: candidate.score for candidate in found}


def test_more_evidence_is_a_higher_score_and_every_score_is_a_share() -> None:
    found = scores()
    assert found["test_says_it"] > found["test_near"] >= STANDS_ALONE
    assert all(0 <= score <= 1 for score in found.values())


def test_a_file_that_only_the_past_ties_to_the_change_is_proposed_with_its_evidence() -> None:
    assert "test_broke_before" not in scores()
    found = link_tests(ChangeSet((GELU,)), CATALOG, known=Known(history=Past())).candidates
    past = next(candidate for candidate in found if candidate.test.file == "test/test_past.py")
    assert not past.must_run
    assert [reason.rule for reason in past.reasons] == [RULE]
    assert "changed with torch/nn/gelu.py in the year before" in past.reasons[0].evidence


def test_weighing_makes_no_test_must_run_and_lifts_it_from_none() -> None:
    for history in (None, Past()):
        found = link_tests(ChangeSet((GELU,)), CATALOG, known=Known(history=history)).candidates
        assert [candidate.test.name for candidate in found if candidate.must_run] == ["test_says_it"]


def test_a_rule_the_model_never_saw_stands_beside_it() -> None:
    weighing = Weighing(ChangeSet((GELU,)), CATALOG, "", None)
    support = Reason(Stage.OWNERSHIP, "test support", "imports it", 0.75)
    label = Reason(Stage.OWNERSHIP, "owner label", "nn", 0.3)
    alone = weighing.of("test/test_filler1.py", ()).reason.score
    assert (weighing.of("test/test_filler1.py", (support,)).reason.score or 0) >= 0.75
    assert weighing.of("test/test_filler1.py", (label,)).reason.score == alone


def test_a_reason_names_the_strongest_signals_and_the_probability() -> None:
    weighing = Weighing(ChangeSet((GELU,)), CATALOG, "", None)
    evidence = weighing.of("test/test_gelu.py", ()).reason.evidence
    assert evidence.startswith(("paths in", "code in"))
    assert "says gelu" in evidence
    assert evidence.endswith("%")
    assert weighing.of("test/test_filler1.py", ()).reason.evidence.startswith("no sig")


def test_the_same_input_gives_the_same_candidates() -> None:
    first = link_tests(ChangeSet((GELU,)), CATALOG, "gelu", known=Known(history=Past()))
    assert link_tests(ChangeSet((GELU,)), CATALOG, "gelu", known=Known(history=Past())) == first


def test_without_any_signal_a_test_needs_more_than_its_words() -> None:
    for history in (True, False):
        assert shipped_model(history=history).score({}) < KEEP_AT


def test_what_only_the_file_says_does_not_keep_a_test_by_itself() -> None:
    assert KEEP_AT < scores(Past())["test_broke_before"] < STANDS_ALONE
