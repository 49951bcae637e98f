"""Which entry counts, whatever entries there are: properties, and the rule told a second time to compare with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from selector.manifests import ManifestDocument, ManifestSet, Profile, Resolution, load_manifests, resolve
from selector.types import CollectedTest

FILE = "test/test_things.py"
CLASSES = ["TestA", "TestB"]
BASES = ["test_one", "test_two", "test_three"]
DTYPES = ["int8", "float32", "bfloat16"]
MODES = ["mandatory_success", "xfail", "xfail_strict", "skip"]

Entry = Mapping[str, Any]
names = st.lists(
    st.builds(
        "{}{}".format,
        st.sampled_from(["", "TestA::", "TestB::", "Test.::"]),
        st.sampled_from([*BASES, "test_t.*", "test_(one|two)", "test_.*e", "test_on", "test_one_spyre"]),
    ),
    max_size=3,
)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    included = draw(st.lists(st.sampled_from(DTYPES), unique=True, max_size=2))
    entry: dict[str, Any] = {"names": draw(names), "mode": draw(st.sampled_from(MODES))}
    return entry | ({"edits": {"dtypes": {"include": [{"name": name} for name in included]}}} if included else {})


listings = st.lists(entries(), max_size=6)
ceilings = st.lists(st.sampled_from(DTYPES), unique=True, max_size=2)


def load(listing: Sequence[Entry], ceiling: Sequence[str] = ()) -> ManifestSet:
    block = {"path": f"${{TORCH_ROOT}}/{FILE}", "unlisted_test_mode": "skip", "tests": list(listing)}
    suite = {"files": [block], "global": {"supported_dtypes": [{"name": name} for name in ceiling]}}
    return load_manifests([ManifestDocument("m.yaml", yaml.safe_dump({"test_suite_config": suite}))])


def collected(cls: str, base: str, dtype: str | None) -> CollectedTest:
    method = f"{base}_spyre_{dtype}" if dtype else f"{base}_spyre"
    return CollectedTest(f"{FILE}::{cls}SPYRE::{method}", FILE, cls, base, method, None, dtype)


TESTS = [collected(cls, base, dtype) for cls in CLASSES for base in BASES for dtype in (*DTYPES, None)]


def rows(manifests: ManifestSet, profile: Profile, tests: Sequence[CollectedTest] = TESTS) -> tuple[Resolution, ...]:
    return resolve(manifests, tests, profile=profile, device="spyre").rows


def expected_entry(listing: Sequence[Entry], ceiling: Sequence[str], test: CollectedTest, strict: bool) -> int | None:
    """The rule once more, for a reader: who fits, exact names first, then by dtype, then unrestricted, then first."""

    def fits(name: str, *, exact: bool) -> bool:
        cls, _, method = name.rpartition("::")
        if strict and cls and not re.fullmatch(cls, test.cls):
            return False
        is_exact = re.escape(method) == method
        return is_exact == exact and (method == test.base if exact else bool(re.fullmatch(method, test.base)))

    order = [
        number
        for exact in (True, False)
        for number, entry in enumerate(listing)
        if any(fits(name, exact=exact) for name in entry["names"])
    ]

    def dtypes(number: int) -> list[str] | None:
        items = listing[number].get("edits", {}).get("dtypes", {}).get("include", [])
        return [item["name"] for item in items] or list(ceiling) or None

    with_dtype = [number for number in order if test.dtype and test.dtype in (dtypes(number) or ())]
    unrestricted = [number for number in order if dtypes(number) is None]
    return next(iter([*with_dtype, *unrestricted, *order]), None) if len(set(order)) != 1 else order[0]


@given(listings, ceilings, st.sampled_from(Profile))
def test_the_entry_that_counts_is_the_one_of_the_rule(
    listing: list[Entry], ceiling: list[str], profile: Profile
) -> None:
    strict = profile is Profile.STRICT
    for test, row in zip(TESTS, rows(load(listing, ceiling), profile), strict=True):
        assert row.entry == expected_entry(listing, ceiling, test, strict), test.id


@given(listings, ceilings)
def test_without_classes_in_names_both_profiles_agree(listing: list[Entry], ceiling: list[str]) -> None:
    bare = [{**entry, "names": [name.rpartition("::")[2] for name in entry["names"]]} for entry in listing]
    manifests = load(bare, ceiling)
    assert rows(manifests, Profile.COMPAT) == rows(manifests, Profile.STRICT)


@given(listings, ceilings, st.sampled_from(Profile))
def test_an_entry_after_all_others_changes_no_listed_test_that_has_an_exact_unrestricted_entry(
    listing: list[Entry], ceiling: list[str], profile: Profile
) -> None:
    first = [{"names": list(BASES), "mode": "xfail"}, *listing]
    more = [*first, {"names": [*BASES, "test_.*"], "mode": "skip"}]
    assert rows(load(first, ceiling), profile) == rows(load(more, ceiling), profile)


@given(listings, ceilings, st.sampled_from(Profile), st.randoms())
def test_rows_do_not_depend_on_the_order_or_the_company_of_tests(
    listing: list[Entry], ceiling: list[str], profile: Profile, random: Any
) -> None:
    manifests = load(listing, ceiling)
    together = {row.id: row for row in rows(manifests, profile)}
    some = random.sample(TESTS, k=5)
    assert list(rows(manifests, profile, some)) == [together[test.id] for test in some]


@given(listings, ceilings, st.sampled_from(Profile))
def test_every_test_has_a_row_and_only_what_runs_has_tags(
    listing: list[Entry], ceiling: list[str], profile: Profile
) -> None:
    tagged = [{**entry, "tags": ["t"]} for entry in listing]
    for row in rows(load(tagged, ceiling), profile):
        assert bool(row.tags) == (row.entry is not None and row.mode != "skip")
