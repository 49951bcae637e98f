"""What is mended means the same as before for every test, keeps its comments, and needs no second round."""

from __future__ import annotations

import pytest

from selector.manifests import ManifestDocument, Profile, Table, load_manifests, resolve
from selector.manifests.lint import RULES, lint
from selector.manifests.lint.repair import repair
from selector.types import CollectedTest

BROKEN = """\
test_suite_config:
  labels: [unit]
  files:
    # nothing is said about the rest
    - path: "${TORCH_ROOT}/test/test_a.py"  # quoted for nothing
      tests:
        - names:
            - TestA::test_one
            - TestA::test_two  # slow
            - TestA::test_one  # again
            - TestA::test_three
        - names: []   # all went
          mode: skip
        - names: [TestA::test_two, TestA::test_four]
          mode: xfail
  global:
    supported_ops: []  # every one
    supported_dtypes:
      - name: float16
        precision: {atol: 1e-3, rtol: 1e-9}  # measured
"""
MENDED = """\
test_suite_config:
  labels: [unit]
  files:
    # nothing is said about the rest
    - path: ${TORCH_ROOT}/test/test_a.py    # quoted for nothing
      unlisted_test_mode: xfail
      tests:
        - names:
            - TestA::test_one
            - TestA::test_two  # slow
            # again
            - TestA::test_three
        # all went
        - names: [TestA::test_two, TestA::test_four]
          mode: xfail
  global:
    # every one
    supported_dtypes:
      - name: float16
        precision: {atol: 0.001, rtol: 1.0e-09} # measured
"""


def table(text: str) -> Table:
    manifests = load_manifests([ManifestDocument("m.yaml", text)])
    bases = ("test_one", "test_two", "test_three", "test_four", "test_five")
    collected = [variant(base, dtype) for base in bases for dtype in ("float16", "int8")]
    return resolve(manifests, collected, profile=Profile.COMPAT, device="acme")


def variant(base: str, dtype: str) -> CollectedTest:
    method = f"{base}_acme_{dtype}"
    return CollectedTest(f"test/test_a.py::TestAACME::{method}", "test/test_a.py", "TestA", base, method, dtype=dtype)


def test_every_safe_fault_is_mended_and_comments_stay() -> None:
    done = repair(ManifestDocument("m.yaml", BROKEN))
    assert done.text == MENDED
    assert done.refused == ()
    assert done.mended == {
        "quoted-path": 1,
        "missing-unlisted-mode": 1,
        "empty-names": 1,
        "duplicate-name": 1,
        "allow-list-empties": 1,
        "precision-string": 2,
    }


def test_a_second_round_changes_nothing() -> None:
    again = repair(ManifestDocument("m.yaml", MENDED))
    assert again.text == MENDED
    assert again.mended == {}


def test_every_test_resolves_as_before() -> None:
    assert table(MENDED).digest == table(BROKEN).digest
    assert {row.mode for row in table(MENDED).rows} >= {"mandatory_success", "xfail"}


def test_what_is_left_to_a_person_is_still_found() -> None:
    (finding,) = lint([ManifestDocument("m.yaml", MENDED)])
    assert finding.rule == "shadowed-entry"


def test_the_rules_that_say_they_are_fixable_are_those_that_are_mended() -> None:
    done = repair(ManifestDocument("m.yaml", BROKEN))
    assert set(done.mended) == {rule.id for rule in RULES.values() if rule.fixable}


@pytest.mark.parametrize("text", ["a: [", "", "test_suite_config: {files: {}}", BROKEN.replace("xfail", "maybe")])
def test_a_manifest_that_does_not_load_is_left_alone(text: str) -> None:
    done = repair(ManifestDocument("m.yaml", text))
    assert (done.text, done.mended) == (text, {})


def test_what_can_not_be_mended_without_harm_is_said_and_the_rest_is_mended() -> None:
    text = BROKEN.replace("            - TestA::test_three\n", "")
    done = repair(ManifestDocument("m.yaml", text))
    assert "duplicate-name" not in done.mended
    assert done.mended["precision-string"] == 2
    assert done.refused == ("m.yaml: duplicate-name: the edit would lose the comment 'again'; make it by hand",)
