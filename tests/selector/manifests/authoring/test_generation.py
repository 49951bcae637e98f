"""A generated manifest loads without a finding and means what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.authoring.generation import Generated, generate
from selector.manifests.authoring.results import Observation, ObservedTest, ResultsError
from selector.manifests.profiles import Profile
from selector.manifests.resolution import resolve
from selector.types import CollectedTest, Mode

FILE = "test/test_a.py"
HEAD = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: mandatory_success
"""
PASSED, FAILED, CRASHED, SKIPPED = Observation.PASSED, Observation.FAILED, Observation.CRASHED, Observation.SKIPPED


def seen(
    base: str, observation: Observation, suffix: str = "", *, cls: str = "TestA", file: str = FILE, detail: str = "why"
) -> ObservedTest:
    method = f"{base}{suffix}_spyre" if not suffix else f"{base}{suffix}"
    owner = f"{cls}SPYRE::" if cls else ""
    return ObservedTest(CollectedTest(f"{file}::{owner}{method}", file, cls, base, method), observation, detail=detail)


def modes(generated: Generated, observed: Iterable[ObservedTest]) -> dict[str, Mode]:
    manifests = load_manifests([ManifestDocument("m.yaml", generated.text)])
    assert manifests.findings == ()
    tests = list({one.id: one.test for one in observed}.values())
    table = resolve(manifests, tests, profile=Profile.COMPAT, device="spyre")
    return {row.id.rpartition("::")[2]: row.mode for row in table.rows}


def made(*observed: ObservedTest) -> str:
    generated = generate(observed, device="spyre")
    assert generated.notes == ()
    return generated.text.removeprefix(HEAD)


def test_what_works_needs_no_entry() -> None:
    assert made(seen("test_x", PASSED), seen("test_y", SKIPPED)) == ""


def test_what_fails_in_all_variants_is_expected_to_fail() -> None:
    entry = made(seen("test_x", FAILED, "_spyre_float32"), seen("test_x", FAILED, "_spyre_int8"))
    assert entry == (
        "      tests:\n        - names:\n            - TestA::test_x\n          mode: xfail\n          reason: why\n"
    )


def test_what_crashes_or_hangs_is_not_run() -> None:
    entry = made(seen("test_x", CRASHED, detail=""), seen("test_y", Observation.TIMED_OUT, detail=""))
    assert "mode: skip\n          reason: crashed\n" in entry
    assert "mode: skip\n          reason: timed out\n" in entry


def test_dtypes_that_fail_get_an_entry_of_their_own() -> None:
    observed = [seen("test_x", FAILED, "_spyre_int8"), seen("test_x", PASSED, "_spyre_float32")]
    assert modes(generate(observed, device="spyre"), observed) == {
        "test_x_spyre_int8": Mode.XFAIL,
        "test_x_spyre_float32": Mode.MANDATORY_SUCCESS,
    }


def test_dtypes_that_crash_are_taken_out_and_the_rest_is_still_told_apart() -> None:
    observed = [
        seen("test_x", CRASHED, "_spyre_float64"),
        seen("test_x", FAILED, "_spyre_int8"),
        seen("test_x", PASSED, "_spyre_float32"),
        seen("test_x", PASSED),
    ]
    generated = generate(observed, device="spyre")
    assert generated.notes == ()
    assert modes(generated, observed) == {
        "test_x_spyre_float64": Mode.SKIP,
        "test_x_spyre_int8": Mode.XFAIL,
        "test_x_spyre_float32": Mode.MANDATORY_SUCCESS,
        "test_x_spyre": Mode.MANDATORY_SUCCESS,
    }


def test_operators_that_crash_are_taken_out() -> None:
    observed = [
        seen("test_x", CRASHED, "_svd_spyre_float32"),
        seen("test_x", PASSED, "_add_spyre_float32"),
        seen("test_x", FAILED, "_add_spyre_int8"),
    ]
    generated = generate(observed, device="spyre")
    assert generated.notes == ()
    assert [mode.value for mode in modes(generated, observed).values()] == ["skip", "mandatory_success", "xfail"]


def test_variants_that_a_manifest_can_not_tell_apart_are_on_the_safe_side_and_are_named() -> None:
    observed = [seen("test_x", FAILED, "_mode_a_spyre"), seen("test_x", PASSED, "_mode_b_spyre")]
    generated = generate(observed, device="spyre")
    assert set(modes(generated, observed).values()) == {Mode.XFAIL}
    assert generated.notes == (
        "test/test_a.py: of 2 variants of test_x, 1 can not be told apart from the rest by a manifest "
        "(works and is xfail)",
    )


def test_a_class_in_which_nothing_is_wrong_is_not_named() -> None:
    observed = [seen("test_x", FAILED, cls="TestBad"), seen("test_x", PASSED, cls="TestGood")]
    generated = generate(observed, device="spyre")
    assert "TestBad::test_x" in generated.text
    assert "TestGood" not in generated.text


def test_classes_in_which_the_same_is_wrong_are_named_once_without_class() -> None:
    entry = made(seen("test_x", FAILED, cls="TestOne"), seen("test_x", FAILED, cls="TestTwo"))
    assert "names:\n            - test_x\n" in entry


def test_the_worst_attempt_counts_and_a_missing_one_says_nothing() -> None:
    observed = [seen("test_x", PASSED), seen("test_x", FAILED), seen("test_y", Observation.MISSING)]
    assert set(modes(generate(observed, device="spyre"), observed[:2]).values()) == {Mode.XFAIL}
    assert "test_y" not in generate(observed, device="spyre").text


def test_tests_that_fail_alike_share_an_entry_whatever_the_address() -> None:
    entry = made(
        seen("test_x", FAILED, detail="bad pointer 0x7ffe12345678\nmore"),
        seen("test_y", FAILED, detail="\n bad pointer 0x7ffe00000000"),
    )
    assert entry.count("- names:") == 1
    assert "reason: bad pointer 0x…\n" in entry


@pytest.mark.parametrize("detail", ["no", "1e3", "12:30:45", "a: b", "- x", "# y", "\x1b[31mred", "'", "{{", "x" * 900])
def test_a_reason_is_text_whatever_the_test_printed(detail: str) -> None:
    observed = [seen("test_x", FAILED, detail=detail)]
    generated = generate(observed, device="spyre", issue="org/repo#7")
    assert modes(generated, observed) == {"test_x_spyre": Mode.XFAIL}
    assert "\x1b" not in generated.text
    assert "issue: org/repo#7\n" in generated.text


@pytest.mark.parametrize("file", ["models/granite", "../x.py", "/etc/x.py", "test/*.py", "a/../b.py"])
def test_a_file_outside_the_tree_is_left_out_and_named(file: str) -> None:
    generated = generate([seen("test_x", FAILED, file=file), seen("test_y", FAILED)], device="spyre")
    assert file not in generated.text
    assert len(generated.notes) == 1


@pytest.mark.parametrize(
    ("base", "cls"),
    [("test_x[a]", "T"), ("", "T"), (" test_x", "T"), ("test_x", "A::B"), ("test_x", "a b"), ("test_x\ud800", "T")],
)
def test_a_name_that_no_source_can_have_is_left_out_and_named(base: str, cls: str) -> None:
    generated = generate([seen(base, FAILED, cls=cls), seen("test_y", FAILED)], device="spyre")
    assert "test_x" not in generated.text
    assert "can not be written as a name" in generated.notes[0]


def test_results_of_which_no_manifest_comes_are_refused() -> None:
    with pytest.raises(ResultsError, match=r"nothing that a manifest can list; '\.\./x\.py' is left out"):
        generate([seen("test_x", FAILED, file="../x.py")], device="spyre")


SUFFIXES = ["_spyre", "_spyre_float32", "_spyre_int8", "_spyre_float64", "_add_spyre_float32", "_svd_spyre_int8"]


@settings(max_examples=60)
@given(
    st.lists(
        st.builds(
            seen,
            st.sampled_from(["test_a", "test_b", "test_a_int8"]),
            st.sampled_from(list(Observation)),
            st.sampled_from(SUFFIXES),
            cls=st.sampled_from(["TestA", "TestB"]),
            detail=st.text(max_size=20),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_whatever_was_seen_the_manifest_means_it_or_says_what_it_can_not_mean(observed: Sequence[ObservedTest]) -> None:
    assume(any(one.observation is not Observation.MISSING for one in observed))
    generated = generate(observed, device="spyre")
    meant = modes(generated, observed)
    worst: dict[tuple[str, str], set[Observation]] = {}
    for one in observed:
        worst.setdefault((one.base, one.test.method), set()).add(one.observation)
    for (base, method), attempts in worst.items():
        exact = not any(f"variants of {base}, " in note for note in generated.notes)
        if attempts & {CRASHED, Observation.TIMED_OUT}:
            assert meant[method] is Mode.SKIP  # never run, exact or not
        elif FAILED in attempts:
            assert meant[method] in ({Mode.XFAIL} if exact else {Mode.XFAIL, Mode.SKIP})
        elif PASSED in attempts and exact:
            assert meant[method] is Mode.MANDATORY_SUCCESS
