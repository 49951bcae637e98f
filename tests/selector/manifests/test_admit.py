"""Base tests are dropped when the manifests keep every variant of them from running, and only then."""

from __future__ import annotations

from collections.abc import Callable

from selector.manifests import NOT_IN_MANIFESTS, ManifestSet, admit
from selector.types import BaseTest, Candidate, Reason, Stage

FILE = "test/test_things.py"
EARLIER = Reason(Stage.OWNERSHIP, "edited_test", "line 3", 0.7)

TESTS = """
- names: [test_a]
- names: [test_b]
  mode: skip
- names: [test_c]
  mode: skip
- names: [test_.*_by_dtype]
  mode: skip
  edits: {dtypes: {include: [{name: int8}]}}
- names: [test_mixed_by_dtype]
  mode: xfail
"""


def candidate(name: str, file: str = FILE) -> Candidate:
    return Candidate(BaseTest(file, "TestThings", name), (EARLIER,), must_run=True, score=0.7)


def test_what_is_skipped_for_certain_is_dropped_with_the_line_of_its_entry(
    load_entries: Callable[..., ManifestSet],
) -> None:
    names = ["test_a", "test_b", "test_mixed_by_dtype", "test_only_by_dtype", "test_unlisted"]
    result = admit([candidate(name) for name in names], load_entries(TESTS))
    assert result.stage is Stage.MANIFESTS
    assert [(kept.test.name, kept.reasons[-1].rule, kept.reasons[-1].evidence) for kept in result.kept] == [
        ("test_a", "listed", "m.yaml:7: mandatory_success"),
        ("test_mixed_by_dtype", "listed", "m.yaml:15: xfail, m.yaml:12: skip"),
    ]
    assert [(gone.test.name, gone.reasons[-1].rule, gone.reasons[-1].evidence) for gone in result.dropped] == [
        ("test_b", "listed", "m.yaml:8: skip"),
        ("test_only_by_dtype", "listed", "m.yaml:12: skip"),
        ("test_unlisted", "unlisted", "m.yaml:4: unlisted tests are skip"),
    ]
    assert result.notes == ()


def test_an_unlisted_test_is_kept_where_unlisted_tests_run(load_entries: Callable[..., ManifestSet]) -> None:
    result = admit([candidate("test_unlisted")], load_entries(TESTS, unlisted="xfail"))
    assert [kept.reasons[-1].evidence for kept in result.kept] == ["m.yaml:4: unlisted tests are xfail"]
    assert result.dropped == ()


def test_a_test_in_a_file_of_no_manifest_is_dropped_although_it_must_run(
    load_entries: Callable[..., ManifestSet],
) -> None:
    tests = [candidate("test_a"), candidate("test_x", "test/test_other.py"), candidate("test_y", "test/test_other.py")]
    result = admit(tests, load_entries(TESTS))
    assert [kept.test.name for kept in result.kept] == ["test_a"]
    assert [gone.reasons[-1] for gone in result.dropped] == 2 * [
        Reason(Stage.MANIFESTS, NOT_IN_MANIFESTS, "test/test_other.py is not listed in any manifest")
    ]
    assert result.notes == ("1 affected test file is not listed in any manifest",)


def test_the_chain_of_reasons_grows_and_the_score_stays(load_entries: Callable[..., ManifestSet]) -> None:
    (kept,) = admit([candidate("test_a")], load_entries(TESTS)).kept
    assert kept.reasons[0] == EARLIER
    assert len(kept.reasons) == 2
    assert (kept.score, kept.must_run) == (0.7, True)


def test_the_rest_of_a_listed_file_is_kept_even_where_unlisted_tests_are_skipped(
    load_entries: Callable[..., ManifestSet],
) -> None:
    """Tests that cannot be read off the text have no names yet: only their variants can be judged."""
    manifests = load_entries(TESTS, unlisted="skip")
    (kept,) = admit([Candidate(BaseTest(FILE, "", ""))], manifests).kept
    assert kept.reasons[-1].rule == "listed"
    assert admit([Candidate(BaseTest("test/test_other.py", "", ""))], manifests).kept == ()


def test_a_skip_that_may_be_for_another_class_or_machine_drops_nothing_that_may_run_unlisted(
    load_entries: Callable[..., ManifestSet],
) -> None:
    entries = """
    - names: [TestOther::test_a, test_b]
      mode: skip
      platforms: [s390x]
    - names: [TestOther::test_c, TestThings::test_d]
      mode: skip
    - names: [TestOther::test_d]
      mode: skip
    """
    candidates = [candidate(name) for name in ("test_a", "test_b", "test_c", "test_d")]
    result = admit(candidates, load_entries(entries, unlisted="xfail"))
    assert [(kept.test.name, kept.reasons[-1].evidence) for kept in result.kept] == [
        ("test_a", "m.yaml:7: skip, m.yaml:4: unlisted tests are xfail"),
        ("test_b", "m.yaml:7: skip, m.yaml:4: unlisted tests are xfail"),
        ("test_c", "m.yaml:10: skip, m.yaml:4: unlisted tests are xfail"),
    ]
    assert admit(candidates, load_entries(entries)).kept == ()
