"""One record for every considered test, with the reason that decided."""

from __future__ import annotations

import json

import pytest

from selector.explanation import Decision, as_object, deciding, decision_of, explain
from selector.explanation.record import ManifestEntry, entries_about
from selector.manifests import ManifestDocument, load_manifests
from selector.types import (
    BaseTest,
    Candidate,
    Mode,
    Reason,
    Selection,
    SelectionState,
    Stage,
    WeighedSignal,
)

TEST = BaseTest("test/test_a.py", "TestA", "test_add")
EDITED = Reason(Stage.OWNERSHIP, "edited test", "test/test_a.py: TestA.test_add changed", 1.0)
MENTIONS = Reason(Stage.OWNERSHIP, "mentions", "mentions add of torch/a.py", 0.6)
WEIGHED = Reason(Stage.OWNERSHIP, "weighed signals", "co-change +1.20 (...)", 0.99)
WIDENED = Reason(Stage.OWNERSHIP, "widened", "setup.py: the build affects every test")
RANKED = Reason(Stage.TRIAGE, "offline ranker", "0.41, kept from 0.50", 0.41)
LISTED = Reason(Stage.MANIFESTS, "listed", "m.yaml:9: xfail")
HELD = Reason(Stage.MANIFESTS, "holdout", "drawn by lot")
MANIFEST = """
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: skip
      tests:
        - names: [TestA::test_add, TestB::test_sub]
          mode: xfail
        - names: [test_add]
          mode: mandatory_success
"""


def candidate(*reasons: Reason, must_run: bool = False) -> Candidate:
    return Candidate(TEST, reasons, must_run, 0.41, 0.2, (WeighedSignal("co-change", 1.2, "torch/a.py"),), 2.5)


@pytest.mark.parametrize(
    ("reasons", "must_run", "kept", "decision", "rule"),
    [
        ((MENTIONS, EDITED, WEIGHED, LISTED), True, True, Decision.MUST_RUN, "edited test"),
        ((MENTIONS, EDITED, WEIGHED, WIDENED), True, True, Decision.MUST_RUN, "edited test"),
        ((WEIGHED,), True, True, Decision.MUST_RUN, "weighed signals"),
        ((MENTIONS, WEIGHED, RANKED, LISTED), False, True, Decision.SELECTED, "offline ranker"),
        ((WIDENED, LISTED), False, True, Decision.SELECTED, "widened"),
        ((MENTIONS, WEIGHED, RANKED), False, False, Decision.LEFT_OUT, "offline ranker"),
        ((MENTIONS, EDITED, LISTED), True, False, Decision.LEFT_OUT, "listed"),
        ((RANKED, LISTED, HELD), False, True, Decision.BY_LOT, "holdout"),
    ],
)
def test_the_reason_that_decided(
    reasons: tuple[Reason, ...], must_run: bool, kept: bool, decision: Decision, rule: str
) -> None:
    it = candidate(*reasons, must_run=must_run)
    reason = deciding(it, kept)
    assert (decision_of(it, kept), reason and reason.rule) == (decision, rule)


def test_every_considered_test_has_a_record_of_one_line() -> None:
    """Selected or not, with everything that the spec wants in it."""
    other = Candidate(BaseTest("test/test_a.py", "TestA", "test_other"), (RANKED,))
    selection = Selection(SelectionState.SELECTED, (candidate(MENTIONS, RANKED),), (other,), (), (), "key")
    manifests = load_manifests([ManifestDocument("m.yaml", MANIFEST)])
    first, second = (json.loads(json.dumps(as_object(it))) for it in explain(selection, manifests))
    assert first == {
        "test": str(TEST),
        "file": "test/test_a.py",
        "decision": "selected",
        "stage": 3,
        "rule": "offline ranker",
        "evidence": "0.41, kept from 0.50",
        "probability": 0.2,
        "score": 0.41,
        "signals": [{"name": "co-change", "weight": 1.2, "evidence": "torch/a.py"}],
        "seconds": 2.5,
        "assumed": False,
        "manifest": [{"place": "m.yaml:7", "mode": "xfail"}, {"place": "m.yaml:9", "mode": "mandatory_success"}],
        "plan": "key",
    }
    assert (second["decision"], second["manifest"]) == ("left out", [{"place": "m.yaml:4", "mode": "skip"}])


def test_a_test_without_a_reason_has_a_record() -> None:
    selection = Selection(SelectionState.SELECTED, (), (Candidate(TEST),), ())
    (record,) = explain(selection, None)
    assert (record.stage, record.rule, record.manifest) == (None, "", ())
    assert as_object(record)["stage"] is None


def test_what_manifests_say_of_a_test_before_it_is_collected() -> None:
    """Entries for another class are not about it; the rest of a file has no name that an entry could be about."""
    manifests = load_manifests([ManifestDocument("m.yaml", MANIFEST)])
    assert entries_about(BaseTest("test/test_a.py", "TestB", "test_add"), manifests) == (
        ManifestEntry("m.yaml:9", Mode.MANDATORY_SUCCESS),
    )
    assert entries_about(BaseTest("test/test_a.py", "", ""), manifests) == (ManifestEntry("m.yaml:4", Mode.SKIP),)
    assert entries_about(BaseTest("test/test_b.py", "TestB", "test_add"), manifests) == ()
