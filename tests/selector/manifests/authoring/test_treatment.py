"""Finer ways to write what was seen come before coarser ones, and the first that is right is taken."""

from __future__ import annotations

from collections.abc import Mapping

from selector.manifests.authoring.results import Observation, ObservedTest
from selector.manifests.authoring.treatment import Entries, NewEntry, Seen, SeenTest, seen_tests, treat
from selector.types import CollectedTest, Mode


def variant(seen: Seen, suffix: str, detail: str = "why") -> SeenTest:
    method = f"test_x_{suffix}"
    return SeenTest(CollectedTest(f"f::TSPYRE::{method}", "f", "T", "test_x", method), seen, detail)


MIXED = (
    variant(Seen.FAILS, "spyre_int8", "bad"),
    variant(Seen.WORKS, "spyre_bool"),
    variant(Seen.DIES, "svd_spyre_int8", "crashed"),
)


def tried(accept: int) -> tuple[list[Entries], tuple[Entries, bool]]:
    """All proposals up to the accepted one, and the outcome."""
    seen: list[Entries] = []

    def judge(entries: Entries) -> Mapping[str, Mode]:
        seen.append(entries)
        right = {Seen.WORKS: Mode.MANDATORY_SUCCESS, Seen.FAILS: Mode.XFAIL, Seen.DIES: Mode.SKIP}
        return {one.test.id: right[one.seen] if len(seen) == accept else Mode.XFAIL_STRICT for one in MIXED}

    return seen, treat(MIXED, "spyre", judge)


def test_the_first_proposal_that_means_what_was_seen_is_taken() -> None:
    proposals, (entries, exact) = tried(accept=1)
    assert (len(proposals), entries, exact) == (1, proposals[0], True)
    assert [(entry.mode, entry.include) for entry in entries] == [
        (Mode.XFAIL, ("int8",)),
        (Mode.MANDATORY_SUCCESS, ()),
    ]


def test_the_coarsest_one_is_safe_and_known_to_be_coarse() -> None:
    _, (entries, exact) = tried(accept=0)
    assert entries == (NewEntry(("T::test_x",), Mode.SKIP, reason="crashed"),)
    assert exact is False


def test_an_entry_is_written_without_what_it_does_not_say() -> None:
    assert NewEntry(("a",), Mode.SKIP).data() == {"names": ["a"], "mode": "skip"}
    full = NewEntry(("a",), Mode.XFAIL, ("int8",), ("bool",), ("svd",), "why", "#1", ("slow",), ("unit",))
    assert list(full.data()) == ["names", "mode", "tags", "labels", "edits", "reason", "issue"]
    assert full.data()["edits"] == {
        "dtypes": {"include": [{"name": "int8"}], "exclude": [{"name": "bool"}]},
        "ops": {"exclude": [{"name": "svd"}]},
    }


def test_a_reason_is_the_commonest_first_line_and_says_that_there_are_others() -> None:
    variants = [variant(Seen.FAILS, f"spyre_{n}", detail) for n, detail in enumerate(["b", "a", "b", "c"])]
    entries, _ = treat(variants, "spyre", lambda _: {one.test.id: Mode.XFAIL for one in variants})
    assert entries[0].reason == "b (and 2 others)"


def test_a_test_is_what_its_worst_attempt_was() -> None:
    test = MIXED[0].test
    attempts = [ObservedTest(test, observation) for observation in (Observation.PASSED, Observation.TIMED_OUT)]
    assert seen_tests(attempts) == (SeenTest(test, Seen.DIES, "timed out"),)
    assert seen_tests([ObservedTest(test, Observation.MISSING)]) == ()
