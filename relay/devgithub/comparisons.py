"""What differs between two commits: the text of a difference, and its files as counted lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from relay.devgithub.sources import Source


@dataclass(frozen=True)
class ChangedFile:
    """A file of a difference. `status` is GitHub's word; `previous` is the old name of a renamed file."""

    path: str
    status: str
    additions: int
    deletions: int
    patch: str
    previous: str = ""


def three_dot_diff(source: Source, base: str, head: str) -> str | None:
    """What `head` changed since it left `base`, as GitHub compares. None when a revision is unknown or the two have
    nothing in common."""
    common = source.merge_base(base, head)
    return None if common is None else source.diff(common.sha, head)


def changed_files(source: Source, base: str, head: str) -> Sequence[ChangedFile]:
    """The files of that difference; none for a text that is no difference."""
    try:
        patches = PatchSet(three_dot_diff(source, base, head) or "")
    except UnidiffParseError:
        return ()
    return [_changed(patch) for patch in patches]


def _changed(patch: PatchedFile) -> ChangedFile:
    hunks = "\n".join(str(hunk).rstrip("\n") for hunk in patch)
    previous = patch.source_file.removeprefix("a/") if patch.is_rename else ""
    return ChangedFile(patch.path, _status(patch), patch.added, patch.removed, hunks, previous)


def _status(patch: PatchedFile) -> str:
    if patch.is_added_file:
        return "added"
    if patch.is_removed_file:
        return "removed"
    return "renamed" if patch.is_rename else "modified"
