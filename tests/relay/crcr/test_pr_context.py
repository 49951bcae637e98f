"""The pull request and the commit are read where the wire puts them, and nowhere when a payload is odd."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.crcr.pr_context import UpstreamContext, label_names, upstream_context

SHA = "1" * 40
NONE = UpstreamContext()


@pytest.mark.parametrize(
    ("ref", "number"),
    [
        ("refs/tags/ciflow/trunk/12345", 12345),
        ("refs/heads/main", None),
        ("refs/tags/ciflow/inductor/12345", None),
        ("refs/tags/ciflow/trunk/12345/more", None),
        ("refs/tags/ciflow/trunk/", None),
        ("ciflow/trunk/5", None),
        ("refs/tags/ciflow/trunk/0", None),
        ("refs/tags/ciflow/trunk/9999999999", None),
        ("refs/tags/ciflow/trunk/" + "9" * 5000, None),
        (None, None),
        (["refs/tags/ciflow/trunk/5"], None),
    ],
)
def test_a_push_belongs_to_a_pull_request_by_the_trunk_tag_only(ref: object, number: int | None) -> None:
    assert upstream_context("push", {"ref": ref, "after": SHA}) == UpstreamContext(number, SHA)


@pytest.mark.parametrize("after", ["0" * 40, "0" * 64, "", None, 5, "1" * 65, "../etc", "a\x00"])
def test_a_push_without_a_commit_has_no_context(after: object) -> None:
    assert upstream_context("push", {"ref": "refs/tags/ciflow/trunk/5", "after": after}) == NONE


@pytest.mark.parametrize(
    ("payload", "context"),
    [
        ({"number": 7, "pull_request": {"number": 7, "head": {"sha": SHA}}}, UpstreamContext(7, SHA)),
        ({"number": 7, "pull_request": {"head": {"sha": SHA}}}, UpstreamContext(7, SHA)),
        ({"number": 7, "pull_request": None}, UpstreamContext(7, "")),
        ({"number": True, "pull_request": {"number": 2**31, "head": None}}, NONE),
        ({}, NONE),
    ],
)
def test_a_pull_request_tells_its_number_and_head(payload: dict[str, Any], context: UpstreamContext) -> None:
    assert upstream_context("pull_request", payload) == context


def test_other_events_have_none() -> None:
    assert upstream_context("check_run", {"number": 7, "after": SHA}) == NONE


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([{"name": "a"}, {"name": None}, "b", {"name": "c"}], {"a", "c"}),
        (None, set()),
        ({"name": "a"}, set()),
    ],
)
def test_labels_are_read_by_name(labels: object, names: set[str]) -> None:
    assert label_names({"pull_request": {"labels": labels}}) == names


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(["number", "pull_request", "head", "sha", "ref", "after", "labels", "name"])
_ODD = st.dictionaries(_KEYS, st.dictionaries(_KEYS, _JSON, max_size=4) | _JSON, max_size=5)


@given(st.sampled_from(["pull_request", "push", "other"]), _ODD)
def test_no_payload_is_too_odd(event: str, payload: dict[str, Any]) -> None:
    context = upstream_context(event, payload)
    assert context.pr_number is None or 0 < context.pr_number < 2**31
    assert len(context.head_sha) <= 64
    label_names(payload)
