"""The keys we add are checked, carried into every row of their entry, and platforms decide where an entry applies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from selector.manifests import ManifestSet, Profile, resolve
from selector.manifests.extensions import is_for_platform
from selector.types import CollectedTest

FILE = "test/test_things.py"
TEST = CollectedTest(f"{FILE}::TSPYRE::test_a_spyre", FILE, "T", "test_a", "test_a_spyre")


@pytest.mark.parametrize("profile", list(Profile))
def test_what_an_entry_says_to_people_and_runners_is_in_its_rows(
    load_entries: Callable[..., ManifestSet], profile: Profile
) -> None:
    manifests = load_entries(
        """
        - names: [test_a]
          mode: xfail
          reason: " wrong strides after a copy "
          issue: https://example.org/issues/7
          owner: memory team
          expires: "2031-05-08"
          platforms: ppc64le
          isolate: true
          timeout_s: 2.5
        """
    )
    assert manifests.findings == ()
    (row,) = resolve(manifests, [TEST], profile=profile, device="spyre", platform="ppc64le").rows
    assert (row.reason, row.issue) == ("wrong strides after a copy", "https://example.org/issues/7")
    assert (row.owner, row.expires) == ("memory team", date(2031, 5, 8))
    assert (row.isolate, row.timeout_s) == (True, 2.5)


def test_a_schema_version_we_know_is_taken_and_another_one_is_not(
    load: Callable[[str], ManifestSet], refuse: Callable[[str], list[str]]
) -> None:
    text = "schema_version: %s\ntest_suite_config: {files: [{path: '${TORCH_ROOT}/test/test_a.py'}]}"
    assert load(text % 1).findings == ()
    assert refuse(text % 2) == ["m.yaml:1:17: `schema_version` must be 1, not 2"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("reason: ' '", "`reason`: ' ': is blank; say something or leave the key out"),
        ("reason: 3", "`reason` must be text, not 3; quote it"),
        ("owner: []", "`owner` must be text, not a list"),
        ("issue: soon", "`issue`: 'soon': write a link, `owner/repository#12` or `#12`"),
        ("issue: 12", "`issue` must be text, not 12; quote it"),
        ("expires: 2031-02-30", "'2031-02-30' is no valid timestamp; quote it if it is text"),
        ("expires: '2031-02-30'", "`expires`: "),
        ("expires: 1924905600", "`expires`: write a day as 2027-01-31"),
        ("expires: 2031-05-08 10:00:00", "`expires`: write a day as 2027-01-31"),
        ("expires: next week", "`expires`: 'next week': write a day as 2027-01-31"),
        ("platforms: {}", "`platforms` must be a list, not a mapping"),
        ("platforms: ['']", "item 1 of `platforms`: '': is blank"),
        ("isolate: 7", "`isolate` must be true or false, not 7"),
        ("timeout_s: 0", "`timeout_s`: "),
        ("timeout_s: true", "`timeout_s` must be a number, not 'true'"),
        ("timeout_s: .inf", "`timeout_s`: "),
        ("timeout_s: .nan", "`timeout_s`: "),
    ],
)
def test_a_value_that_makes_no_sense_is_an_error_at_its_place(
    refuse: Callable[[str], list[str]], setting: str, message: str
) -> None:
    text = f"""\
        test_suite_config:
          files:
            - path: ${{TORCH_ROOT}}/test/test_a.py
              tests:
                - names: [test_a]
                  {setting}
        """
    (error,) = refuse(text)
    place, _, said = error.partition(": ")
    assert place.startswith("m.yaml:6:")
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("issue", "taken"),
    [("#7", True), ("some/where#7", True), ("https://example.org/7", True), ("some/where", False), ("7", False)],
)
def test_an_issue_is_a_link_or_a_number_of_a_repository(
    load_entries: Callable[..., ManifestSet], issue: str, taken: bool
) -> None:
    from selector.manifests import ManifestError

    try:
        load_entries(f"- names: [test_a]\n  issue: '{issue}'")
    except ManifestError:
        assert not taken
    else:
        assert taken


@pytest.mark.parametrize(
    ("platforms", "platform", "applies"),
    [
        ((), "x86_64", True),
        (("s390x",), "", True),
        (("s390x", "x86_64"), "x86_64", True),
        (("s390x",), "x86_64", False),
        (("ppc64",), "ppc64le", True),
        (("ppc64le",), "ppc64", False),
        (("arm64",), "aarch64", True),
        (("AMD64",), "x86_64", True),
    ],
)
def test_an_entry_applies_on_its_platforms(platforms: tuple[str, ...], platform: str, applies: bool) -> None:
    assert is_for_platform(platforms, platform) is applies


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize(("platform", "entry"), [("x86_64", 1), ("aarch64", 0), ("", 0)])
def test_an_entry_for_another_platform_leaves_the_test_to_the_next_one(
    load_entries: Callable[..., ManifestSet], platform: str, entry: int, profile: Profile
) -> None:
    manifests = load_entries("- names: [test_a]\n  mode: xfail\n  platforms: [arm64]\n- names: ['test_.*']")
    (row,) = resolve(manifests, [TEST], profile=profile, device="spyre", platform=platform).rows
    assert row.entry == entry
