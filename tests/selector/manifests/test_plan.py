"""What a run takes from the manifests: one expectation for each collected test."""

from __future__ import annotations

from collections.abc import Callable

from selector.manifests import ManifestSet, Profile, plan
from selector.types import CollectedTest, Expectation, Mode

FILE = "test/test_things.py"
ENTRIES = """
- names: [TestThings::test_a]
  tags: [slow, nightly]
- names: [TestOthers::test_b, test_function]
  mode: skip
  tags: [never_seen]
  labels: [unit]
  platforms: [s390x]
"""


def collected(base: str, cls: str = "TestThings") -> CollectedTest:
    method = f"{base}_spyre" if cls else base
    return CollectedTest(f"{FILE}::{cls}SPYRE::{method}", FILE, cls, base, method)


def test_every_test_gets_its_expectation_in_order(load_entries: Callable[..., ManifestSet]) -> None:
    tests = [collected(base) for base in ("test_a", "test_b", "test_c")]
    planned = plan(tests, load_entries(ENTRIES, unlisted="xfail"), "spyre")
    assert [one.test for one in planned] == tests
    assert [one.expectation for one in planned] == [
        Expectation(Mode.MANDATORY_SUCCESS, "listed", "m.yaml:7", ("slow", "nightly")),
        Expectation(Mode.SKIP, "listed", "m.yaml:9"),
        Expectation(Mode.XFAIL, "unlisted", "m.yaml:4"),
    ]


def test_the_profile_the_tier_and_the_platform_are_handed_on(load_entries: Callable[..., ManifestSet]) -> None:
    manifests = load_entries(ENTRIES, unlisted="xfail")

    def rule(tier: str = "", profile: Profile = Profile.COMPAT, platform: str = "") -> str:
        (one,) = plan([collected("test_b")], manifests, "spyre", tier, profile=profile, platform=platform)
        return one.expectation.rule

    assert rule() == "listed"
    assert rule(tier="smoke") == "label_mismatch"
    assert rule(profile=Profile.STRICT) == "unlisted"
    assert rule(platform="x86_64") == "unlisted"


def test_a_function_outside_any_class_is_ruled_too(load_entries: Callable[..., ManifestSet]) -> None:
    tests = [collected("test_function", ""), collected("test_other_function", "")]
    planned = plan(tests, load_entries(ENTRIES, unlisted="xfail"), "spyre")
    assert [(one.expectation.mode, one.expectation.rule) for one in planned] == [
        (Mode.SKIP, "listed"),
        (Mode.XFAIL, "unlisted"),
    ]
