"""An existing manifest is tightened by what results show, and keeps its comments, its order and its policy."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.authoring.extension import extend, needs_no_change
from selector.manifests.authoring.generation import Generated
from selector.manifests.authoring.plain import write_plain
from selector.manifests.authoring.results import Observation, ObservedTest
from selector.manifests.authoring.treatment import seen_tests
from selector.manifests.profiles import Profile
from selector.manifests.resolution import resolve
from selector.types import CollectedTest

FILE = "test/test_a.py"
TEXT = """\
# Ours.
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: %s
      tests:
        # Needs sparse.
        - names: [TestA::test_known, TestA::test_worse]
          mode: xfail
          tags: [needs_sparse]
        - names: [TestA::test_edited]
          edits: {dtypes: {exclude: [{name: int8}]}}
        - names: [test_many_.*]
  global:
    supported_dtypes: [{name: float32}, {name: int8}]
"""
PASSED, FAILED, CRASHED = Observation.PASSED, Observation.FAILED, Observation.CRASHED


def seen(base: str, observation: Observation, dtype: str = "float32", file: str = FILE) -> ObservedTest:
    method = f"{base}_spyre_{dtype}"
    test = CollectedTest(f"{file}::TestASPYRE::{method}", file, "TestA", base, method)
    return ObservedTest(test, observation, detail="why")


def extended(*observed: ObservedTest, unlisted: str = "mandatory_success") -> Generated:
    return extend(ManifestDocument("m.yaml", TEXT % unlisted), observed, device="spyre", issue="")


def added(*observed: ObservedTest, unlisted: str = "mandatory_success") -> list[str]:
    text = extended(*observed, unlisted=unlisted).text
    lines = difflib.unified_diff((TEXT % unlisted).splitlines(), text.splitlines(), n=0, lineterm="")
    return [f"{line[0]}{line[1:].strip()}" for line in list(lines)[2:] if not line.startswith("@@")]


def test_what_is_said_already_changes_nothing() -> None:
    assert added(seen("test_known", FAILED), seen("test_new", PASSED), seen("test_many_x", PASSED)) == []


def test_what_works_against_expectation_is_left_to_promotion() -> None:
    assert added(seen("test_known", PASSED)) == []


def test_what_fails_and_is_required_is_added_behind_the_last_entry() -> None:
    assert added(seen("test_new", FAILED)) == ["+- names:", "+- TestA::test_new", "+mode: xfail", "+reason: why"]


def test_what_crashes_leaves_its_entry_and_keeps_its_tags() -> None:
    assert added(seen("test_worse", CRASHED)) == [
        "-- names: [TestA::test_known, TestA::test_worse]",
        "+- names: [TestA::test_known]",
        "+- names:",
        "+- TestA::test_worse",
        "+mode: skip",
        "+tags:",
        "+- needs_sparse",
        "+reason: why",
    ]


def test_one_of_many_that_match_a_pattern_gets_an_entry_that_comes_first() -> None:
    assert "+- TestA::test_many_x" in added(seen("test_many_x", FAILED))


def test_dtypes_that_the_device_does_not_have_stay_its_policy() -> None:
    assert added(seen("test_new", FAILED, "float64")) == []


def test_an_entry_with_edits_is_left_to_a_person_who_is_told() -> None:
    result = extended(seen("test_edited", FAILED))
    assert result.text == TEXT % "mandatory_success"
    assert "test_edited does not do what entry 2 of the file expects" in result.notes[0]


def test_in_a_manifest_that_skips_what_is_unlisted_a_test_that_works_is_listed() -> None:
    assert added(seen("test_new", PASSED), unlisted="skip") == [
        "+- names:",
        "+- TestA::test_new",
        "+mode: mandatory_success",
    ]
    assert added(seen("test_new", FAILED), unlisted="skip") == []


def test_an_unknown_file_gets_a_block() -> None:
    assert added(seen("test_new", FAILED, file="test/test_b.py"))[:3] == [
        "+",
        "+- path: ${TORCH_ROOT}/test/test_b.py",
        "+unlisted_test_mode: mandatory_success",
    ]


MODES = st.sampled_from(["mandatory_success", "xfail", "skip"])
BASES = ("test_a", "test_b", "test_c")


@settings(max_examples=80)
@given(
    st.lists(st.tuples(st.lists(st.sampled_from(BASES), min_size=1, max_size=2, unique=True), MODES), max_size=3),
    MODES,
    st.lists(
        st.builds(
            seen,
            st.sampled_from(BASES),
            st.sampled_from([PASSED, FAILED, CRASHED]),
            st.sampled_from(["float32", "int8", "float64"]),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_afterwards_the_manifest_may_say_all_that_was_seen_or_a_note_says_what_not(
    entries: list[tuple[list[str], str]], unlisted: str, observed: Sequence[ObservedTest]
) -> None:
    tests = [{"names": names, "mode": mode} for names, mode in entries]
    block = {"path": f"${{TORCH_ROOT}}/{FILE}", "unlisted_test_mode": unlisted, **({"tests": tests} if tests else {})}
    suite = {"files": [block], "global": {"supported_dtypes": [{"name": "float32"}, {"name": "int8"}]}}
    document = ManifestDocument("m.yaml", write_plain({"test_suite_config": suite}))
    result = extend(document, observed, device="spyre")
    assume(not result.notes)
    manifests = load_manifests([ManifestDocument("m.yaml", result.text)])
    found = seen_tests(observed)
    rows = resolve(manifests, [one.test for one in found], profile=Profile.COMPAT, device="spyre").by_id
    assert [one for one in found if not needs_no_change(one, rows[one.test.id])] == []
