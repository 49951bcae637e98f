"""A streak that is long enough becomes a small edit with its evidence; anything less does not."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.authoring.promotion import Held, Proposal, Rewritten, propose, rewrite
from selector.manifests.authoring.results import Observation, ObservedTest
from selector.manifests.authoring.streaks import Policy
from selector.manifests.profiles import Profile
from selector.manifests.resolution import resolve
from selector.types import CollectedTest, Mode

FILE = "test/test_a.py"
PASSED, FAILED, CRASHED, SKIPPED = Observation.PASSED, Observation.FAILED, Observation.CRASHED, Observation.SKIPPED
START = datetime(2026, 8, 1, 12, tzinfo=UTC)
POLICY = Policy(runs=4, days=3, machines=2, failures=2)
TEXT = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: mandatory_success
      tests:
        # Needs sparse.
        - names: [TestA::test_one]
          mode: xfail
          reason: no sparse
        - names:
            - TestA::test_two
            - TestA::test_three
          mode: xfail
        - names: [TestA::test_tagged]
          mode: xfail_strict  # for now
          tags: [slow]
          issue: https://example.org/1
        - names: [TestA::test_gone]
          mode: skip
"""


def seen(base: str, observation: Observation, run: int, suffix: str = "") -> ObservedTest:
    """Run number `run`, one a day, on two machines in turn."""
    method = f"{base}_spyre{suffix}"
    test = CollectedTest(f"{FILE}::TestASPYRE::{method}", FILE, "TestA", base, method)
    at = START + timedelta(days=run)
    return ObservedTest(test, observation, f"run {run}", at, f"lab{run % 2}", detail="why")


def runs(base: str, observations: Sequence[Observation], suffix: str = "") -> list[ObservedTest]:
    return [seen(base, observation, run, suffix) for run, observation in enumerate(observations)]


def proposed(
    observed: Sequence[ObservedTest], *, text: str = TEXT, demote: bool = False
) -> tuple[tuple[Proposal, ...], tuple[Held, ...]]:
    manifests = load_manifests([ManifestDocument("m.yaml", text)])
    return propose(observed, manifests, device="spyre", policy=POLICY, demote=demote)


def rewritten(observed: Sequence[ObservedTest], *, text: str = TEXT, demote: bool = False) -> Rewritten:
    made, _ = proposed(observed, text=text, demote=demote)
    return rewrite(ManifestDocument("m.yaml", text), made, observed, device="spyre", issue="#5")


def edit(observed: Sequence[ObservedTest], *, text: str = TEXT, demote: bool = False) -> list[str]:
    after = rewritten(observed, text=text, demote=demote).document.text
    lines = difflib.unified_diff(text.splitlines(), after.splitlines(), n=0, lineterm="")
    return [f"{line[0]}{line[1:].strip()}" for line in list(lines)[2:] if not line.startswith("@@")]


def test_a_long_streak_is_a_proposal_with_its_evidence() -> None:
    (made,), held = proposed(runs("test_one", [PASSED] * 5, "_int8") + runs("test_one", [PASSED] * 4, "_bool"))
    assert held == ()
    assert str(made) == (
        "m.yaml:7: require test_one, which passed: 2 variants, 4 runs on 4 days (2026-08-01 to 2026-08-05), "
        "machines: lab0, lab1"
    )


@pytest.mark.parametrize(
    ("observed", "why"),
    [
        (runs("test_one", [FAILED, PASSED, PASSED, PASSED]), "3 of 4 runs of test_one_spyre"),
        ([seen("test_one", PASSED, 2 * run) for run in range(4)], "1 of 2 machines of test_one_spyre"),
        (runs("test_one", [PASSED] * 4) + runs("test_one", [FAILED] * 4, "_int8"), "1 of its 2 variants still failed"),
    ],
)
def test_what_a_streak_lacks_is_said(observed: list[ObservedTest], why: str) -> None:
    made, (held,) = proposed(observed)
    assert (made, held.why) == ((), why)


@pytest.mark.parametrize("end", [FAILED, CRASHED, Observation.TIMED_OUT])
def test_a_failure_ends_a_streak_and_so_does_a_run_with_both(end: Observation) -> None:
    assert proposed(runs("test_one", [*[PASSED] * 5, end])) == ((), ())
    assert proposed([*runs("test_one", [PASSED] * 5), seen("test_one", end, 4)]) == ((), ())


def test_runs_that_say_nothing_and_runs_without_a_date_do_not_count() -> None:
    silent = runs("test_one", [PASSED, SKIPPED, Observation.MISSING, PASSED, PASSED])
    _, (held,) = proposed(silent)
    assert held.why == "3 of 4 runs of test_one_spyre"
    undated = [ObservedTest(one.test, one.observation, one.run, None, one.machine) for one in silent]
    assert proposed(undated) == ((), ())


def test_a_model_is_not_promoted_for_its_expectation_stands_in_no_list() -> None:
    model = '{name: one, import_path: "a:b", inputs: [{shape: [1], below: 2}], compare: [logits], dtypes: [float16]'
    text = f"{TEXT}  models:\n    - {model}, mode: xfail}}\n"
    test = CollectedTest("models/one::logits[float16]", "models/one", "", "logits", "logits[float16]", dtype="float16")
    days = [START + timedelta(days=run) for run in range(9)]
    observed = [ObservedTest(test, PASSED, f"run {at}", at, f"lab{at.day % 2}") for at in days]
    assert propose(observed, load_manifests([ManifestDocument("m.yaml", text)]), device="spyre", policy=POLICY) == (
        (),
        (),
    )


def test_a_skipped_or_a_required_test_is_not_promoted() -> None:
    assert proposed(runs("test_gone", [PASSED] * 5) + runs("test_new", [PASSED] * 5)) == ((), ())


def test_an_entry_that_says_no_more_goes_with_its_comment() -> None:
    assert edit(runs("test_one", [PASSED] * 4)) == [
        "-# Needs sparse.",
        "-- names: [TestA::test_one]",
        "-mode: xfail",
        "-reason: no sparse",
    ]


def test_a_name_leaves_an_entry_that_it_shares() -> None:
    assert edit(runs("test_two", [PASSED] * 4)) == ["-- TestA::test_two"]


def test_where_unlisted_is_not_required_it_gets_an_entry() -> None:
    text = TEXT.replace("unlisted_test_mode: mandatory_success", "unlisted_test_mode: skip")
    assert edit(runs("test_two", [PASSED] * 4), text=text) == [
        "-- TestA::test_two",
        "+- names:",
        "+- TestA::test_two",
        "+mode: mandatory_success",
    ]
    assert edit(runs("test_one", [PASSED] * 4), text=text) == [
        "-mode: xfail",
        "-reason: no sparse",
        "+mode: mandatory_success",
    ]


def test_tags_stay_and_the_excuse_goes() -> None:
    assert edit(runs("test_tagged", [PASSED] * 4)) == [
        "-mode: xfail_strict  # for now",
        "+mode: mandatory_success  # for now",
        "-issue: https://example.org/1",
    ]


def test_one_of_many_that_match_a_pattern_gets_an_entry_that_comes_first() -> None:
    text = TEXT.replace("[TestA::test_one]", '["TestA::test_on.*"]')
    assert edit(runs("test_one", [PASSED] * 4), text=text) == [
        "+- names:",
        "+- test_one",
        "+mode: mandatory_success",
    ]


def test_an_entry_with_edits_keeps_them_and_one_in_an_odd_form_is_refused_with_the_reason() -> None:
    text = TEXT.replace("          reason: no sparse\n", "          edits: {dtypes: {include: [{name: int8}]}}\n")
    observed = runs("test_one", [PASSED] * 4, "_int8")
    assert edit(observed, text=text) == ["-mode: xfail", "+mode: mandatory_success"]
    flow = TEXT.replace("        - names: [TestA::test_one]\n", "        -\n          names: [TestA::test_one]\n")
    result = rewritten(runs("test_one", [PASSED] * 4), text=flow)
    assert result.document.text == flow
    assert "does not start on a line of its own" in result.refused[0].why


def test_a_required_test_that_keeps_failing_is_excused_with_the_issue() -> None:
    observed = runs("test_new", [PASSED, FAILED, FAILED], "_int8") + runs("test_new", [FAILED, PASSED], "_bool")
    assert proposed(observed) == ((), ())
    assert edit(observed, demote=True) == [
        "+- names:",
        "+- TestA::test_new",
        "+mode: xfail",
        "+edits:",
        "+dtypes:",
        "+include:",
        "+- name: int8",
        "+reason: why",
        "+issue: '#5'",
        "+- names:",
        "+- TestA::test_new",
        "+mode: mandatory_success",
    ]


def test_a_demotion_that_only_a_person_can_write_is_not_among_those_made() -> None:
    text = TEXT.replace("mode: skip", "edits: {dtypes: {exclude: [{name: bool}]}}")
    result = rewritten(runs("test_gone", [FAILED] * 3), text=text, demote=True)
    assert (result.document.text, result.made) == (text, ())
    assert result.refused[0].why == "it still fails and its entry needs a person"
    assert "change it by hand" in result.notes[0]


def test_one_failure_is_no_demotion() -> None:
    assert proposed(runs("test_new", [PASSED, PASSED, FAILED]), demote=True) == ((), ())


HISTORY = st.lists(st.sampled_from([PASSED, PASSED, PASSED, FAILED, SKIPPED]), min_size=4, max_size=7)
NAMES = ("test_one", "test_two", "test_three", "test_tagged", "test_new")


@settings(max_examples=60)
@given(st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(["", "_int8"])), HISTORY, min_size=1))
def test_an_edit_means_what_its_proposals_say_and_nothing_else(
    histories: dict[tuple[str, str], list[Observation]],
) -> None:
    observed = [one for (base, suffix), history in histories.items() for one in runs(base, history, suffix)]
    result = rewritten(observed)
    tests = list({one.id: one.test for one in observed}.values())
    before, after = (
        resolve(load_manifests([ManifestDocument("m.yaml", text)]), tests, profile=Profile.COMPAT, device="spyre").by_id
        for text in (TEXT, result.document.text)
    )
    promoted = {test_id for one in result.made for test_id in one.ids}
    for test in tests:
        expected = Mode.MANDATORY_SUCCESS if test.id in promoted else before[test.id].mode
        assert after[test.id].mode is expected
