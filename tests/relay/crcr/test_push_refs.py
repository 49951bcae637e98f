"""Which pushes are told, and which files a push touches, whatever the payload looks like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.crcr.push_refs import touched_paths, why_not_told
from relay.settings import RelaySettings
from tests.conformance.payloads import ZERO, push

DEFAULT = RelaySettings.model_fields["crcr_push_refs"].default


@pytest.mark.parametrize(
    ("ref", "told"),
    [
        ("refs/heads/main", True),
        ("refs/heads/viable/strict", True),
        ("refs/tags/ciflow/trunk/7", True),
        ("refs/heads/Main", False),
        ("refs/heads/main2", False),
        ("refs/heads/gh/u/1/head", False),
        ("refs/heads/ciflow/trunk/7", False),
        ("refs/tags/v2.0", False),
    ],
)
def test_the_default_tells_of_the_branches_and_of_ciflow_tags(ref: str, told: bool) -> None:
    assert (why_not_told(push(ref), DEFAULT) == "") == told


@pytest.mark.parametrize(
    ("patterns", "told"),
    [("refs/heads/*", True), (" refs/tags/* , refs/heads/a/* ", True), ("", False), (" , ", False)],
)
def test_patterns_are_whole_refs_with_stars(patterns: str, told: bool) -> None:
    assert (why_not_told(push("refs/heads/a/b"), patterns) == "") == told


@pytest.mark.parametrize("changes", [{"after": ZERO}, {"deleted": True}, {"after": None}])
def test_a_deletion_is_not_told_whatever_the_patterns(changes: dict[str, Any]) -> None:
    assert "deleted" in why_not_told(push() | changes, "*")


def test_a_reason_quotes_a_ref_in_short() -> None:
    assert len(why_not_told(push("refs/heads/" + "x" * 5_000), DEFAULT)) < 200


def test_every_file_of_every_commit_is_named_once() -> None:
    commits = [{"added": ["a"], "modified": ["b"]}, {"removed": ["c"], "modified": ["b"]}]
    assert touched_paths(push(commits=commits, head_commit={"added": ["d"]})) == ("a", "b", "c", "d")


_JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["added", "modified"]), inner),
    max_leaves=6,
)


@given(_JSON, _JSON, _JSON)
def test_no_push_is_too_odd(ref: object, commits: object, head: object) -> None:
    payload = {"ref": ref, "commits": commits, "head_commit": head, "after": ref}
    assert isinstance(why_not_told(payload, DEFAULT), str)
    assert all(isinstance(path, str) for path in touched_paths(payload))
