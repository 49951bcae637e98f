"""A large payload is cut in a fixed order, never below what backends read, and the note tells what is missing."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.crcr.trimming import VERBATIM_BYTES, PayloadTooLargeError, size_of, trim

PULL = json.loads((Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json").read_text("utf-8"))
REPOSITORY = {
    "full_name": "o/r",
    "html_url": "https://github.com/o/r",
    "clone_url": "https://github.com/o/r.git",
    "default_branch": "main",
    "private": False,
    "fork": False,
    "description": "d" * 500,
    "keys_url": "u" * 200,
}

#: Paths that no step may touch (crcr-protocol 1.3, rule 3), each with a value to be found again.
PROTECTED_PULL: dict[tuple[str, ...], Any] = {
    ("action",): "opened",
    ("number",): 7,
    ("label", "name"): "ciflow/crcr/npu",
    ("repository", "full_name"): "o/r",
    ("sender", "login"): "someone",
    ("pull_request", "number"): 7,
    ("pull_request", "state"): "open",
    ("pull_request", "draft"): False,
    ("pull_request", "merged"): False,
    ("pull_request", "merge_commit_sha"): "c" * 40,
    ("pull_request", "title"): "t" * 256,
    ("pull_request", "html_url"): "https://github.com/o/r/pull/7",
    ("pull_request", "user", "login"): "author",
    ("pull_request", "labels", "0", "name"): "first",
    ("pull_request", "head", "sha"): "a" * 40,
    ("pull_request", "head", "ref"): "topic",
    ("pull_request", "head", "repo", "full_name"): "fork/r",
    ("pull_request", "base", "sha"): "b" * 40,
    ("pull_request", "base", "ref"): "main",
    ("pull_request", "base", "repo", "full_name"): "o/r",
}
PROTECTED_PUSH: dict[tuple[str, ...], Any] = {
    ("ref",): "refs/heads/main",
    ("before",): "b" * 40,
    ("after",): "a" * 40,
    ("base_ref",): None,
    ("deleted",): False,
    ("forced",): True,
    ("repository", "full_name"): "o/r",
    ("head_commit", "id"): "a" * 40,
    ("head_commit", "message"): "subject",
}


def a_pull() -> dict[str, Any]:
    """A payload with everything that a step cuts, small."""
    person = {"login": "someone", "avatar_url": "https://x", "html_url": "https://github.com/someone"}
    return {
        "action": "opened",
        "number": 7,
        "label": {"name": "ciflow/crcr/npu", "description": "says"},
        "organization": {"login": "o", "description": "org"},
        "enterprise": {"slug": "e"},
        "sender": person | {"id": 1},
        "repository": copy.deepcopy(REPOSITORY),
        "pull_request": {
            "number": 7,
            "state": "open",
            "draft": False,
            "merged": False,
            "merge_commit_sha": "c" * 40,
            "title": "t" * 256,
            "html_url": "https://github.com/o/r/pull/7",
            "body": "b",
            "_links": {"self": {"href": "x"}},
            "user": person | {"login": "author"},
            "labels": [{"name": "first", "description": "d"}, {"name": "second", "description": "d"}],
            "requested_reviewers": [person],
            "assignees": [dict(person)],
            "requested_teams": [],
            "milestone": {"title": "m"},
            "head": {"sha": "a" * 40, "ref": "topic", "repo": REPOSITORY | {"full_name": "fork/r"}},
            "base": {"sha": "b" * 40, "ref": "main", "repo": copy.deepcopy(REPOSITORY)},
        },
    }


def a_push(commits: int = 3) -> dict[str, Any]:
    commit = {"id": "a" * 40, "message": "subject", "added": ["n"], "removed": [], "modified": ["m"]}
    return {
        "ref": "refs/heads/main",
        "before": "b" * 40,
        "after": "a" * 40,
        "base_ref": None,
        "deleted": False,
        "forced": True,
        "repository": copy.deepcopy(REPOSITORY),
        "commits": [copy.deepcopy(commit) for _ in range(commits)],
        "head_commit": commit,
    }


def at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def test_a_small_payload_is_sent_as_it_is() -> None:
    assert trim(PULL).payload is PULL
    assert trim(PULL).note is None


@pytest.mark.parametrize(("extra", "cut"), [(-1, False), (0, True)])
def test_the_bound_is_exact(extra: int, cut: bool) -> None:
    payload: dict[str, Any] = {"pull_request": {"body": ""}}
    payload["pull_request"]["body"] = "x" * (VERBATIM_BYTES - size_of(payload) + extra)
    assert (trim(payload).note is not None) == cut


def test_no_more_is_cut_than_is_needed() -> None:
    payload = a_pull()
    payload["repository"]["keys_url"] = "u" * VERBATIM_BYTES
    trimmed = trim(payload)
    assert "keys_url" not in trimmed.payload["repository"]
    assert trimmed.payload["pull_request"]["body"] == "b"
    assert trimmed.payload["organization"] == payload["organization"]
    assert trimmed.note is not None
    assert set(trimmed.note["removed"]) == {
        *("/repository/keys_url", "/sender/avatar_url", "/pull_request/_links", "/pull_request/user/avatar_url"),
        *("/pull_request/requested_reviewers/0/avatar_url", "/pull_request/assignees/0/avatar_url"),
        *("/pull_request/head/repo/keys_url", "/pull_request/base/repo/keys_url"),
    }


@pytest.mark.parametrize(
    ("grow", "protected"),
    [
        (("pull_request", "body"), PROTECTED_PULL),
        (("pull_request", "milestone", "title"), PROTECTED_PULL),
        (("pull_request", "head", "repo", "description"), PROTECTED_PULL),
        (("organization", "description"), PROTECTED_PULL),
        (("pull_request", "labels", "1", "description"), PROTECTED_PULL),
        (("label", "description"), PROTECTED_PULL),
    ],
)
def test_what_is_large_goes_and_what_is_protected_stays(
    grow: tuple[str, ...], protected: dict[tuple[str, ...], Any]
) -> None:
    payload = a_pull()
    at(payload, grow[:-1])[grow[-1]] = "\N{SNOWMAN}" * 30_000
    before = copy.deepcopy(payload)
    trimmed = trim(payload)
    assert payload == before
    assert trimmed.note is not None
    assert size_of(trimmed.payload) + size_of(trimmed.note) < VERBATIM_BYTES
    assert trimmed.note["original_bytes"] == size_of(payload)
    for path, value in protected.items():
        assert at(trimmed.payload, path) == value
    with pytest.raises(KeyError):
        at(trimmed.payload, grow)


@pytest.mark.parametrize("lists", [("added",), ("added", "removed", "modified")])
def test_a_large_push_keeps_its_last_commit_and_what_is_protected(lists: tuple[str, ...]) -> None:
    payload = a_push(commits=2_000)
    for name in lists:
        payload["head_commit"][name] = [f"torch/file_{number}.py" for number in range(3_000)]
    payload["commits"][-1] = copy.deepcopy(payload["head_commit"])
    trimmed = trim(payload)
    assert [commit["id"] for commit in trimmed.payload["commits"]] == ["a" * 40]
    assert trimmed.note is not None
    assert "/commits" in trimmed.note["removed"]
    assert len(trimmed.note["removed"]) < 50
    for path, value in PROTECTED_PUSH.items():
        assert at(trimmed.payload, path) == value


def test_what_is_protected_may_be_too_large_by_itself() -> None:
    payload = a_pull()
    payload["pull_request"]["title"] = "t" * VERBATIM_BYTES
    with pytest.raises(PayloadTooLargeError, match="bytes"):
        trim(payload)


def test_a_pointer_to_many_is_the_pointer_of_their_holder() -> None:
    payload: dict[str, Any] = {"pull_request": {f"{number}_url": "u" * 9_000 for number in range(9)}}
    assert trim(payload).note == {"original_bytes": size_of(payload), "removed": ["/pull_request"]}


def test_a_name_with_a_slash_is_escaped() -> None:
    payload: dict[str, Any] = {"a/b~c": {"x_url": "u" * VERBATIM_BYTES}}
    assert (trim(payload).note or {})["removed"] == ["/a~1b~0c/x_url"]


_KEYS = st.sampled_from(
    ["pull_request", "labels", "commits", "head_commit", "repository", "head", "repo", "sender", "x_url", "_links"]
)
_ODD = st.recursive(
    st.none() | st.integers() | st.sampled_from(["", "\ud800", "y" * 7_000]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(_KEYS, _ODD, max_size=6))
def test_a_payload_of_any_shape_fits_afterwards_or_is_refused(payload: dict[str, Any]) -> None:
    try:
        trimmed = trim(payload)
    except PayloadTooLargeError:
        return
    assert size_of(trimmed.payload) < VERBATIM_BYTES
