"""Which pushes backends are told of, and which files a push touches. Pure.

The original told of every push, branch noise and deleted tags included (crcr-protocol 8, W30).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from relay.crcr.pr_context import part, upstream_context

#: A reason quotes no more of a ref than this.
_SHOWN = 100
_FILE_LISTS = ("added", "modified", "removed")


def why_not_told(payload: Mapping[str, Any], patterns: str) -> str:
    """Why no backend hears of a push; empty when they do. `patterns` are whole refs, comma-separated, with `*` for any
    text; the empty text tells of none."""
    ref = payload.get("ref")
    if not isinstance(ref, str):
        return "the push names no ref"
    if payload.get("deleted") is True or not upstream_context("push", payload).head_sha:
        return f"{ref[:_SHOWN]} was deleted"
    if not any(fnmatchcase(ref, pattern.strip()) for pattern in patterns.split(",") if pattern.strip()):
        return f"backends are not told of pushes to {ref[:_SHOWN]}"
    return ""


def touched_paths(payload: Mapping[str, Any]) -> Sequence[str]:
    """The files that the push's commits added, changed or removed, as far as GitHub lists them."""
    listed = payload.get("commits")
    commits = [commit for commit in listed if isinstance(commit, Mapping)] if isinstance(listed, list) else []
    paths: dict[str, None] = {}
    for commit in (*commits, part(payload, "head_commit")):
        for name in _FILE_LISTS:
            files = commit.get(name)
            paths |= dict.fromkeys(file for file in files if isinstance(file, str)) if isinstance(files, list) else {}
    return tuple(paths)
